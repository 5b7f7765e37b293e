import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
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
  peak: number | null;
  last: number | null;
}

const drawn = 8; // lines at most
const spans = [60, 300, 1800]; // s
const steps = 120;

/** Whole minutes: "5 min". */
const short = (s: number) => new Intl.NumberFormat(language.value, { style: "unit", unit: "minute", unitDisplay: "short" }).format(s / 60);

/** A value in words: the intensity of motion, or that it is quiet. */
const told = (v: number | null) => (v === null ? "–" : v < 1 ? t("quiet") : new Intl.NumberFormat(language.value, { style: "percent" }).format((v - 1) / 2));

/** Live motion as lines, and what they are lines of. */
export function Screen({ o }: { o: Overview }) {
  const byRoom = useSignal(true);
  const length = useSignal(60);
  const still = useSignal(0); // the time at which it was held still; 0: it goes on
  const bold = useSignal("");
  const tick = useSignal(0);
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
  const strongest = new Set([...lines].sort((a, b) => (b.peak ?? -1) - (a.peak ?? -1)).slice(0, drawn).map((l) => l.name));
  const visible = lines.filter((l) => chosen.current.get(l.name) ?? strongest.has(l.name)).slice(0, 2 * drawn);
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
      <Plot lines={visible.map((l) => ({ name: l.name, look: lines.indexOf(l), values: past(l.links, to, step, steps) }))} to={to} step={step} steps={steps} label={label} marks={moments.map((m) => ({ at: m.at, text: m.room }))} bold={bold.value} />
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
            {lines.map((l, i) => {
              const on = visible.includes(l);
              const focus = () => (bold.value = l.name);
              const blur = () => (bold.value = "");
              return (
                <tr key={l.name} class={bold.value === l.name ? "bold" : undefined} onMouseEnter={focus} onMouseLeave={blur} onFocusIn={focus} onFocusOut={blur}>
                  <td><input type="checkbox" id={`${id}-${i}`} checked={on} onChange={() => { chosen.current.set(l.name, !on); tick.value++; }} /></td>
                  <th scope="row"><label for={`${id}-${i}`}><Key look={i} /> {l.name}</label></th>
                  <td>{told(l.last)}</td>
                  <td>{told(l.peak)}</td>
                  <td>{l.can}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </Page>
  );
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
    const line = groups.get(name) ?? { name, links: [], can: "", peak: null, last: null };
    line.links.push(link);
    if (line.can !== t("liveCanYes")) line.can = known.can || line.can;
    groups.set(name, line);
  }
  const lines = [...groups.values()].sort((a, b) => a.name.localeCompare(b.name, language.value));
  for (const line of lines) {
    const values = past(line.links, to, step, steps);
    line.last = values.slice(-Math.max(2, Math.ceil(2 / step))).findLast((v) => v !== null) ?? null;
    line.peak = values.reduce((a, b) => (b === null || (a !== null && a > b) ? a : b), null);
  }
  return lines;
}
