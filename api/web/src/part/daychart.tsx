import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { useAnswer } from "../answer";
import type { Overview } from "../state";
import { clock, t } from "../text";
import { hours } from "./day";
import { past, percent, type History, type Values } from "./history";
import { MomentList, type MomentPage } from "./moments";
import { Waiting } from "./page";
import { HeatStrip, Nights, nights } from "./strip";

interface Row {
  name: string;
  values: Values;
}

const mean = (values: Values) => {
  const known = values.filter((v) => v !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length;
};

/** Where to begin: now, or where most went on. */
function busiest(values: Values, last: number): number {
  let best = -1;
  for (const [i, v] of values.entries()) if ((v ?? 0) > (values[best] ?? 0)) best = i;
  return best >= 0 ? best : last;
}

/** What went on at a step: "Kitchen 82 %, Hall 3 %". */
export function said(rows: Row[], i: number): string {
  if (rows.every((r) => r.values[i] === null)) return t("histUnknown");
  const moved = rows.filter((r) => percent(r.values[i] ?? 0) > 0).sort((a, b) => b.values[i]! - a.values[i]!);
  return moved.length === 0 ? t("histStill") : moved.slice(0, 3).map((r) => t("histRoom", { room: r.name, n: percent(r.values[i]!) })).join(", ");
}

/** The rooms of a day, one slider for all of them, and the moments of the hour that it is at. */
export function DayChart({ h, o }: { h: History; o: Overview }) {
  const day = h.days[0];
  const zone = o.home.timezone;
  const n = day.values.length;
  const last = Math.max(0, past(h, day, day.values).length - 1);
  const rows: Row[] = h.rooms.length > 0 ? h.rooms : [{ name: t("histHome"), values: day.values }];
  const chosen = useSignal(h.today === day.date ? last : busiest(day.values, last));
  const at = Math.min(chosen.value, n - 1);
  const time = (i: number) => clock(day.start + i * h.step, zone);
  const hour = useMemo(() => {
    const of = hours(zone);
    return day.values.map((_, i) => of(day.start + i * h.step));
  }, [day.start, n, zone]);
  const night = useMemo(() => nights(day, h.step, zone), [day.start, n, zone]);
  const strips = useMemo(
    () =>
      rows.flatMap((r) => {
        const m = mean(r.values);
        return [
          <span class="who" key={r.name + "/"}>{r.name}</span>,
          <HeatStrip key={r.name} strip={{ from: day.start, step: h.step, values: past(h, day, r.values) }} slots={n} label={m === null ? t("histStripNone", { name: r.name }) : t("histStrip", { name: r.name, n: percent(m) })} />,
        ];
      }),
    [h],
  );
  const marks = [6, 12, 18].map((m) => hour.findIndex((v) => v >= m));
  const ends = [0, ...marks, n];
  const text = t("histAt", { time: time(at), rooms: said(rows, at) });
  const choose = (e: MouseEvent & { currentTarget: Element }) => {
    const box = e.currentTarget.getBoundingClientRect();
    chosen.value = Math.max(0, Math.min(n - 1, Math.floor(((e.clientX - box.left) / box.width) * n)));
  };
  return (
    <>
      <section class="daychart">
        <p class="readout" aria-hidden="true">{text}</p>
        <div class="rows">
          <Nights night={night} />
          {strips}
          <svg class="cursor" viewBox={`0 0 ${n} 1`} preserveAspectRatio="none" aria-hidden="true" onClick={choose}>
            <rect x="0" y="0" width={n} height="1" class="tap" />
            <line x1={at + 0.5} x2={at + 0.5} y1="0" y2="1" />
          </svg>
        </div>
        <div class="below">
          <input type="range" min={0} max={n - 1} step={1} value={at} aria-label={t("histTime")} aria-valuetext={text} onInput={(e) => (chosen.value = Number(e.currentTarget.value))} />
          <p class="ticks" aria-hidden="true" style={{ gridTemplateColumns: ends.slice(1).map((e, i) => `${Math.max(0, e - ends[i])}fr`).join(" ") }}>
            <span>00</span><span>06</span><span>{t("noon")}</span><span>18</span>
          </p>
        </div>
        <p><small>{t("histNight")}</small></p>
        <Table rows={rows} n={n} time={time} step={h.step} />
      </section>
      <Hour o={o} start={day.start} length={day.length} from={day.start + Math.floor((at * h.step) / 3600) * 3600} fresh={h.today === day.date} />
    </>
  );
}

/** The rooms hour by hour as a table. */
function Table({ rows, n, time, step }: { rows: Row[]; n: number; time: (i: number) => string; step: number }) {
  const wide = 3600 / step;
  return (
    <details>
      <summary>{t("histTable")}</summary>
      <div class="scroll" tabIndex={0}>
        <table class="figures">
          <thead><tr><th scope="col">{t("histHour")}</th>{rows.map((r) => <th key={r.name} scope="col">{r.name}</th>)}</tr></thead>
          <tbody>
            {Array.from({ length: Math.ceil(n / wide) }, (_, i) => (
              <tr key={i}>
                <th scope="row">{time(i * wide)}</th>
                {rows.map((r) => {
                  const m = mean(r.values.slice(i * wide, (i + 1) * wide));
                  return <td key={r.name}>{m === null ? <span aria-label={t("histUnknown")}>–</span> : percent(m) + " %"}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** The moments of an hour: those of the day are asked for once. */
function Hour({ o, start, length, from, fresh }: { o: Overview; start: number; length: number; from: number; fresh: boolean }) {
  const path = (from: number, to: number) => `/web/v1/moments?network_id=${o.home.id}&from=${from}&to=${to}&last=200`;
  const all = useAnswer<MomentPage>(path(start, start + length), fresh ? 60 : 0);
  const more = useAnswer<MomentPage>(all.value?.next ? path(from, from + 3600) : null);
  const zone = o.home.timezone;
  const to = from + 3600;
  const list = (more.value ?? all.value)?.moments.filter((m) => m.start < to && (m.start >= from || m.ended === "open" || (m.end ?? 0) > from));
  return (
    <section class="hour">
      <h2>{t("histMoments", { from: clock(from, zone), to: clock(to, zone) })}</h2>
      <Waiting answer={all} />
      {list?.length === 0 && <p class="muted">{t("histNoMoments")}</p>}
      {list && list.length > 0 && <MomentList key={from} moments={list} zone={zone} />}
    </section>
  );
}
