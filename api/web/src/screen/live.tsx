import { useSignal } from "@preact/signals";
import { Component } from "preact";
import { useCallback, useEffect, useId, useMemo, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { Page } from "../part/page";
import { Key, Plot } from "../part/plot";
import { heard, moments, past, record } from "../part/ring";
import { connected, now, type Overview } from "../state";
import { codeText, language, span, t } from "../text";

interface Device {
  id: number;
  name: string;
  friendly_name: string;
  location: string;
}

interface Topology {
  devices: Device[];
  links: { link_id: string; dst: number; src: number }[];
}

interface Client {
  id?: number;
  mac?: string;
  friendly_name: string;
  sounding_status: boolean;
  sounding_status_reason: string;
  sounding_warmup: number | null;
}

/** A line of the plot: a link, or all links of a room. */
interface Line {
  name: string;
  links: string[];
  can: string; // words
  i: number; // its number, by which it is drawn
  values: (number | null)[];
  peak: number | null;
  last: number | null;
}

const drawn = 8; // lines at most
const spans = [60, 300, 1800]; // s
const steps = 120;
const ceiling = 4; // where eight times the threshold is drawn
const many = 30; // lines, above which the list begins with those that are drawn

/** Whole minutes: "5 min". */
const short = (s: number) => new Intl.NumberFormat(language.value, { style: "unit", unit: "minute", unitDisplay: "short" }).format(s / 60);

/** How high a value stands: up to the threshold, 1, as it is, above it a step for each doubling. */
const height = (v: number | null) => (v === null || v <= 1 ? v : Math.min(ceiling, 1 + Math.log2(v)));

let format = { language: "", numbers: new Intl.NumberFormat() };

/** A value in words: how many times the threshold. */
function told(v: number | null): string {
  if (v === null) return "–";
  if (format.language !== language.value) format = { language: language.value, numbers: new Intl.NumberFormat(language.value, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) };
  return format.numbers.format(Math.min(v, 99)) + " ×";
}

/** Live motion as lines, and what they are lines of. */
export function Screen({ o }: { o: Overview }) {
  const byRoom = useSignal(true);
  const length = useSignal(60);
  const still = useSignal(0); // the time at which it was held still; 0: it goes on
  const bold = useSignal("");
  const tick = useSignal(0);
  const all = useSignal(false); // of many lines
  const strongest = useRef(new Set<string>());
  const chosen = useRef(new Map<string, boolean>()); // shown or not, as somebody has said
  const topology = useAnswer<Topology>(o.home.live ? `/api/v1/topologies?network_id=${o.home.id}&offline=true` : null, 60);
  const clients = useAnswer<{ nodes?: Client[]; leafs?: Client[]; devices?: Client[] } | Client[]>(o.home.live ? `/api/v1/sounding/clients?network_id=${o.home.id}` : null, 60);
  const id = useId();
  useEffect(() => record(o.home.id), [o.home.id]);
  const step = length.value / steps;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && !still.value && tick.value++, Math.max(500, step * 1000));
    return () => clearInterval(timer);
  }, [step]);
  const to = still.value || Math.floor(now.peek() / step) * step;
  const names = useMemo(() => namesOf(topology.value, clientsOf(clients.value)), [topology.value, clients.value]);
  const lines = linesOf(byRoom.value, names, to, step, tick.value);
  strongest.current = strongestOf(lines, strongest.current);
  const visible = lines.filter((l) => chosen.current.get(l.name) ?? strongest.current.has(l.name)).slice(0, 2 * drawn);
  const listed = all.value || lines.length <= many ? lines : lines.filter((l) => visible.includes(l) || chosen.current.has(l.name));
  const point = useCallback((name: string) => (bold.value = name), []);
  const choose = useCallback((name: string, on: boolean) => {
    chosen.current.set(name, on);
    tick.value++;
  }, []);
  const first = visible.reduce<Line | null>((best, l) => ((l.peak ?? 0) > (best?.peak ?? 0) ? l : best), null);
  const label = visible.every((l) => l.peak === null) ? t("liveChartEmpty") : first && first.peak! >= 1
    ? t("liveChart", { time: span(length.value), name: first.name })
    : t("liveChartQuiet", { time: span(length.value) });
  if (!o.home.live) return <Page title={t("live")}><p class="note">{t("liveOff")}</p></Page>;
  return (
    <Page title={t("live")} kind="live">
      <div class="bar">
        <span role="group" aria-label={t("liveShow")}>
          <button aria-pressed={byRoom.value} onClick={() => (byRoom.value = true)}>{t("liveRooms")}</button>
          <button aria-pressed={!byRoom.value} onClick={() => (byRoom.value = false)}>{t("liveLinks")}</button>
        </span>
        <span role="group" aria-label={t("liveSpan")}>
          {spans.map((s) => <button key={s} aria-pressed={length.value === s} onClick={() => (length.value = s)}>{short(s)}</button>)}
        </span>
        <button aria-pressed={still.value > 0} onClick={() => (still.value = still.value ? 0 : to)}>{t(still.value ? "liveGo" : "liveStop")}</button>
      </div>
      {o.state === "paused" ? <p class="note">{t("livePaused")}</p> : !connected.value && <p class="note">{t("liveLost")}</p>}
      <Plot lines={visible.map((l) => ({ name: l.name, look: l.i, values: l.values.map(height) }))} to={to} step={step} steps={steps} ceiling={ceiling} label={label}
        marks={moments.map((m) => ({ at: m.at, text: m.room }))} bold={bold.value} />
      <p><small>{t("liveIntro")} {lines.length > drawn && t("liveRest", { n: drawn })}</small></p>
      {lines.length === 0 ? (
        <p class="note"><strong>{t("liveNone")}</strong> {t("liveNoneHelp")}</p>
      ) : (
        <table class="lines">
          <thead>
            <tr>
              <th scope="col">{t("liveShow")}</th><th scope="col">{t("liveName")}</th><th scope="col">{t("liveNow")}</th><th scope="col">{t("livePeak")}</th><th scope="col">{t("liveCan")}</th>
            </tr>
          </thead>
          <tbody>
            {listed.map((l) => <Row key={l.name} id={`${id}-${l.i}`} name={l.name} i={l.i} can={l.can} last={told(l.last)} peak={told(l.peak)} on={visible.includes(l)} bold={bold.value === l.name} point={point} choose={choose} />)}
          </tbody>
        </table>
      )}
      {lines.length > many && <p><button aria-expanded={all.value} onClick={() => (all.value = !all.value)}>{all.value ? t("liveFewer") : t("liveAll", { n: lines.length })}</button></p>}
    </Page>
  );
}

interface RowProps {
  id: string;
  name: string;
  i: number;
  can: string;
  last: string;
  peak: string;
  on: boolean;
  bold: boolean;
  point: (name: string) => void;
  choose: (name: string, on: boolean) => void;
}

/** A line in the list. It is drawn anew when what it says changes. */
class Row extends Component<RowProps> {
  shouldComponentUpdate(next: RowProps) {
    return (Object.keys(next) as (keyof RowProps)[]).some((k) => next[k] !== this.props[k]);
  }
  render({ id, name, i, can, last, peak, on, bold, point, choose }: RowProps) {
    const focus = () => point(name);
    const blur = () => point("");
    return (
      <tr class={bold ? "bold" : undefined} onMouseEnter={focus} onMouseLeave={blur} onFocusIn={focus} onFocusOut={blur}>
        <td><input type="checkbox" id={id} checked={on} onChange={() => choose(name, !on)} /></td>
        <th scope="row"><label for={id}><Key look={i} /> {name}</label></th>
        <td>{last}</td>
        <td>{peak}</td>
        <td>{can}</td>
      </tr>
    );
  }
}

/**
 * The names of the strongest lines. One that was among them stays until another is clearly
 * stronger, so that quiet lines do not take turns.
 */
function strongestOf(lines: Line[], before: Set<string>): Set<string> {
  const strength = (l: Line) => l.peak ?? -1;
  const byStrength = [...lines].sort((a, b) => strength(b) - strength(a));
  const kept = byStrength.filter((l) => before.has(l.name));
  const others = byStrength.filter((l) => !before.has(l.name));
  while (kept.length < drawn && others.length > 0) kept.push(others.shift()!);
  for (kept.sort((a, b) => strength(b) - strength(a)); others.length > 0 && strength(others[0]) > Math.max(0.5, 1.5 * strength(kept[kept.length - 1])); kept.sort((a, b) => strength(b) - strength(a))) {
    kept[kept.length - 1] = others.shift()!;
  }
  return new Set(kept.map((l) => l.name));
}

/** Nodes and clients, in whichever form they are told. */
function clientsOf(answer: unknown): Client[] {
  const found: Client[] = [];
  const look = (v: unknown) => {
    if (Array.isArray(v)) v.forEach(look);
    else if (v && typeof v === "object") "sounding_status_reason" in v ? found.push(v as Client) : Object.values(v).forEach(look);
  };
  look(answer);
  return found;
}

type Names = Map<string, { name: string; room: string; can: string }>;

/** What links are called, by their ids. */
function namesOf(topology: Topology | undefined, clients: Client[]): Names {
  const devices = new Map(topology?.devices.map((d) => [d.id, d]));
  const called = (d?: Device) => d?.friendly_name || d?.name || "?";
  const names: Names = new Map();
  for (const l of topology?.links ?? []) {
    const [src, dst] = [devices.get(l.src), devices.get(l.dst)];
    const client = clients.find((c) => c.friendly_name === called(src) || c.id === l.src || (c.mac ?? "").replaceAll(":", "") === src?.name);
    const can = !client ? "" : client.sounding_warmup !== null ? t("whyWARMUP") : client.sounding_status || client.sounding_status_reason === "N/A" ? t("liveCanYes") : codeText("why", client.sounding_status_reason);
    names.set(l.link_id, { name: `${called(src)} – ${called(dst)}`, room: src?.location || dst?.location || "", can });
  }
  return names;
}

/** The lines there are, by name, and how strong they are. */
function linesOf(byRoom: boolean, names: Names, to: number, step: number, _tick: number): Line[] {
  const groups = new Map<string, Line>();
  for (const link of heard()) {
    const known = names.get(link) ?? { name: link, room: "", can: "" };
    const name = byRoom ? known.room || known.name : known.name;
    const line = groups.get(name) ?? { name, links: [], can: "", i: 0, values: [], peak: null, last: null };
    line.links.push(link);
    if (line.can !== t("liveCanYes")) line.can = known.can || line.can;
    groups.set(name, line);
  }
  const lines = [...groups.values()].sort((a, b) => a.name.localeCompare(b.name, language.value));
  lines.forEach((line, i) => {
    line.i = i;
    const values = (line.values = past(line.links, to, step, steps));
    line.last = values.slice(-Math.max(2, Math.ceil(2 / step))).findLast((v) => v !== null) ?? null;
    line.peak = values.reduce((a, b) => (b === null || (a !== null && a > b) ? a : b), null);
  });
  return lines;
}
