import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useAnswer } from "../answer";
import { call } from "../api";
import { isTag, lengthText, roomText, tags, tagText, type Moment } from "../part/moments";
import { Page, Waiting } from "../part/page";
import { place, to } from "../route";
import type { Overview, Strip } from "../state";
import { clock, codeText, language, refusal, t } from "../text";

interface End {
  name: string;
  room: string;
}

interface Link {
  id: string;
  from: End;
  to: End;
  score: number | null;
  threshold: number | null;
  peak: number | null;
}

interface Why {
  ts: number;
  moment: Moment;
  places: { room: string; device: string; confidence: number }[];
  intensity: Strip;
  before: number[];
  links: Link[];
}

/** Why a moment was noticed. */
export function Screen({ o }: { o: Overview }) {
  const id = place.value.rest[0] ?? "";
  const answer = useAnswer<Why>(`/web/v1/moments/${encodeURIComponent(id)}?network_id=${o.home.id}`);
  const w = answer.value;
  const open = w?.moment.ended === "open";
  useEffect(() => {
    if (!open) return;
    const timer = setInterval(() => void answer.again(), 10_000);
    return () => clearInterval(timer);
  }, [open, id]);
  if (answer.refusal?.status === 404)
    return (
      <Page title={t("momentGone")}>
        <p class="note">{t("momentGoneHelp")} <a href={to("history")}>{t("history")}</a></p>
      </Page>
    );
  if (!w)
    return (
      <Page title={t("moments")}>
        <Waiting answer={answer} />
      </Page>
    );
  return <Found key={w.moment.id} w={w} o={o} waiting={<Waiting answer={answer} />} again={answer.again} />;
}

function Found({ w, o, waiting, again }: { w: Why; o: Overview; waiting: ComponentChildren; again: () => Promise<void> }) {
  const zone = o.home.timezone;
  const m = w.moment;
  const from = clock(m.start, zone);
  const title = t(m.end !== null ? "momentRange" : m.ended === "open" ? "momentSince" : "momentFrom", { room: roomText(m), from, to: m.end === null ? "" : clock(m.end, zone) });
  const date = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: zone }).format(m.start * 1000);
  const day = new Intl.DateTimeFormat(language.value, { weekday: "long", day: "numeric", month: "long", timeZone: zone }).format(m.start * 1000);
  const others = w.places.slice(1).map((p) => p.room).filter((r) => r && r !== m.room);
  return (
    <Page title={title} kind="moment">
      <div>
        <p>{[m.end !== null ? lengthText(m.end - m.start) : m.ended === "open" ? lengthText(w.ts - m.start) : "", day].filter(Boolean).join(" · ")}</p>
        {codeText("momentended", m.ended) && <p>{codeText("momentended", m.ended)}</p>}
        {others.length > 0 && <p>{t("momentAlso", { rooms: [...new Set(others)].join(", ") })}</p>}
      </div>
      {waiting}
      <Curve w={w} zone={zone} />
      <Links links={w.links} />
      <Tags m={m} o={o} again={again} />
      <Numbers w={w} zone={zone} />
      <p><a href={to("history", date)}>{t("momentBack")}</a></p>
    </Page>
  );
}

const high = 40; // of the plot, in units of its own
const line = 34; // where it counts as motion
const y = (v: number) => (v <= 0 ? 37 : line - v * (line - 2));

/** The strength over time; every link has its threshold, so the line is that of all of them. */
function Curve({ w, zone }: { w: Why; zone: string }) {
  const { from, step, values } = w.intensity;
  const peak = values.reduce<number>((a, v) => Math.max(a, v ?? 0), 0);
  const at = (i: number) => clock(from + i * step, zone);
  const name = roomText(w.moment);
  const label = values.every((v) => v === null) ? t("momentCurveNone") : t("momentCurve", { room: name, peak: Math.round(peak * 100), time: at(values.indexOf(peak)) });
  const x = (ts: number) => Math.max(0, Math.min(values.length, (ts - from) / step));
  let d = "";
  for (const [i, v] of values.entries()) if (v !== null) d += `${i > 0 && values[i - 1] !== null ? "L" : "M"}${i} ${y(v)}L${i + 1} ${y(v)}`;
  const end = w.moment.end ?? (w.moment.ended === "open" ? w.ts : w.moment.start);
  return (
    <section class="curve">
      <h2>{t("momentStrength")}</h2>
      {values.length > 0 && (
        <>
          <svg viewBox={`0 0 ${values.length} ${high}`} preserveAspectRatio="none" role="img" aria-label={label}>
            {values.map((v, i) => v !== null && <rect key={i} class="known" x={i} y="0" width="1.02" height={high} />)}
            <rect class="during" x={x(w.moment.start)} y="0" width={Math.max(0.5, x(end) - x(w.moment.start))} height={high} />
            {values.map((v, i) => v !== null && v > 0 && <rect key={i} class="strength" x={i} y={y(v)} width="1.02" height={line - y(v)} />)}
            <line class="threshold" x1="0" x2={values.length} y1={line} y2={line} />
            <path d={d} />
          </svg>
          <p class="axis" aria-hidden="true"><span>{at(0)}</span><span>{at(values.length)}</span></p>
        </>
      )}
      <p>{label}</p>
      <p><small>{t("momentLine")}</small></p>
    </section>
  );
}

const floor = 0.25; // share of a bar below the threshold

/** How far a link was over its threshold: 0.25 at the threshold, 1 the most; null when that is not told. */
function share(l: Link): number | null {
  if (l.peak !== null) return floor + (1 - floor) * Math.min(1, l.peak);
  if (l.score !== null && l.threshold) return Math.min(1, (floor * l.score) / l.threshold);
  return null;
}

function Links({ links }: { links: Link[] }) {
  return (
    <section class="links">
      <h2>{t("momentLinks")}</h2>
      <p>{links.length === 0 ? t("momentNoLinks") : t(links.length === 1 ? "momentLink" : "momentLinksMany", { n: links.length })}</p>
      <ul>
        {links.map((l) => {
          const s = share(l);
          return (
            <li key={l.id}>
              <span>{t("momentEnds", { from: l.from.name, to: l.to.name })} <small>{s === null ? t("momentUnsaid") : t(s >= 0.55 ? "momentStrong" : s >= 0.35 ? "momentClear" : "momentJust")}</small></span>
              {s !== null && (
                <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="track" width="100" height="8" />
                  <rect class="strength" width={s * 100} height="8" />
                  <line class="threshold" x1={floor * 100} x2={floor * 100} y1="0" y2="8" />
                </svg>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** What people say of the moment. */
function Tags({ m, o, again }: { m: Moment; o: Overview; again: () => Promise<void> }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const saved = useSignal(false);
  const give = async (tag: string) => {
    busy.value = true;
    wrong.value = "";
    saved.value = false;
    try {
      await call("POST", "/api/v1/event_tag", { network_id: o.home.id, eventid: m.id, tag });
      await again();
      saved.value = true;
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  return (
    <section class="tags">
      <h2>{t("momentTag")}</h2>
      <div role="group" aria-label={t("momentTag")}>
        {Object.entries(tags).map(([tag, name]) => (
          <button key={tag} aria-pressed={m.tag === tag} disabled={busy} onClick={() => give(tag)}>{t(name)}</button>
        ))}
      </div>
      {m.tag && !isTag(m.tag) && <p>{t("momentTagged", { tag: tagText(m.tag) })}</p>}
      <p role="status">{saved.value ? t("momentTagSaved") : ""}</p>
      <p class="wrong" role="alert">{wrong}</p>
      <p><small>{t("momentTagHelp")}</small></p>
    </section>
  );
}

const figure = (v: number | null, decimals: number) => (v === null ? "–" : new Intl.NumberFormat(language.value, { maximumFractionDigits: decimals }).format(v));

function Numbers({ w, zone }: { w: Why; zone: string }) {
  const time = new Intl.DateTimeFormat(language.value, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZone: zone });
  const { from, step, values } = w.intensity;
  return (
    <details>
      <summary>{t("momentNumbers")}</summary>
      <div class="scroll" tabIndex={0}>
        <table class="figures">
          <thead><tr><th scope="col">{t("momentNumLink")}</th><th scope="col">{t("momentNumScore")}</th><th scope="col">{t("momentNumThreshold")}</th><th scope="col">{t("momentNumPeak")}</th></tr></thead>
          <tbody>
            {w.links.map((l) => <tr key={l.id}><th scope="row">{l.id}</th><td>{figure(l.score, 2)}</td><td>{figure(l.threshold, 2)}</td><td>{figure(l.peak, 3)}</td></tr>)}
          </tbody>
        </table>
        <ul>{w.places.map((p, i) => <li key={i}>{t("momentConfidence", { room: p.room || t("momentPlace"), n: Math.round(p.confidence * 100), device: p.device })}</li>)}</ul>
        {w.before.length > 0 && <p>{t("momentNumBefore", { list: w.before.map((v) => figure(v, 3)).join(" · ") })}</p>}
        <p>{t("momentId", { id: w.moment.id })}</p>
        <table class="figures">
          <thead><tr><th scope="col">{t("momentNumTime")}</th><th scope="col">{t("momentNumValue")}</th></tr></thead>
          <tbody>
            {values.map((v, i) => v !== null && v > 0 && <tr key={i}><th scope="row">{time.format((from + i * step) * 1000)}</th><td>{figure(v, 3)}</td></tr>)}
          </tbody>
        </table>
      </div>
    </details>
  );
}
