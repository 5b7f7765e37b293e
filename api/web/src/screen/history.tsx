import { useMemo } from "preact/hooks";
import { useAnswer } from "../answer";
import { csvOf, download } from "../part/csv";
import { dayText, hours, isDay, shiftDays, shiftMonths, weekday } from "../part/day";
import { DayChart } from "../part/daychart";
import { past, percent, type History, type HistoryDay } from "../part/history";
import { Page, Waiting } from "../part/page";
import { HeatStrip, Nights, nights } from "../part/strip";
import { place, to } from "../route";
import type { Overview } from "../state";
import { t } from "../text";

const spans = ["day", "week", "month"] as const;
type Span = (typeof spans)[number];
const spanNames = { day: "histDay", week: "histWeek", month: "histMonth" } as const;

/** The address of a span of the history. */
function address(day: string, span: Span, room = ""): string {
  const query = new URLSearchParams();
  if (span !== "day") query.set("span", span);
  if (span !== "day" && room) query.set("room", room);
  return to("history", ...(day ? [day] : [])) + (query.size ? "?" + query : "");
}

/** When there was motion in which room: a day, a week or a month. */
export function Screen({ o }: { o: Overview }) {
  const { rest, query } = place.value;
  const asked = isDay(rest[0] ?? "") ? rest[0] : "";
  const span = spans.find((s) => s === query.get("span")) ?? "day";
  const room = span === "day" ? "" : (query.get("room") ?? "");
  const parameters = new URLSearchParams({ network_id: String(o.home.id), span, ...(asked && { day: asked }), ...(room && { room }) });
  const answer = useAnswer<History>("/web/v1/rooms/history?" + parameters, asked ? 0 : 60);
  const h = answer.value;
  const day = asked || h?.today || "";
  const zone = o.home.timezone;
  return (
    <Page title={t("history")} kind="history" heading={h && h.days.length > 0 ? sentence(h, span, zone) : t("history")}>
      <div class="control">
        <Steps day={day} span={span} room={room} h={h} />
        <nav class="spans" aria-label={t("histSpan")}>
          {spans.map((s) => <a key={s} href={address(day, s, room)} aria-current={s === span ? "true" : undefined}>{t(spanNames[s])}</a>)}
        </nav>
        {span !== "day" && h && <Rooms h={h} day={day} span={span} />}
      </div>
      <Waiting answer={answer} />
      {h && !answer.refusal && known(h) === 0 && <Empty h={h} zone={zone} />}
      {h && span === "day" && h.days.length > 0 && <DayChart key={h.days[0].date} h={h} o={o} />}
      {h && span === "week" && <Week h={h} zone={zone} />}
      {h && span === "month" && <Month h={h} />}
      {h && <p><button onClick={() => download(`sensegate-${h.days[0]?.date ?? day}-${span}.csv`, csvOf(h, span, zone))}>{t("histCsv")}</button></p>}
    </Page>
  );
}

/** How many values are known. */
const known = (h: History) => h.days.filter((d) => d.mean !== null).length;

/** The way to the time before and the time after. */
function Steps({ day, span, room, h }: { day: string; span: Span; room: string; h?: History }) {
  if (!day) return <div class="steps" />;
  const shift = (by: number) => (span === "month" ? shiftMonths(day, by) : shiftDays(day, by * (span === "week" ? 7 : 1)));
  const first = h?.days[0]?.date ?? day;
  const last = h?.days.at(-1)?.date ?? day;
  const name =
    span === "month" ? dayText(day, { month: "long", year: "numeric" }) :
    span === "week" ? `${dayText(first, { day: "numeric", month: "short" })} – ${dayText(last, { day: "numeric", month: "short" })}` :
    dayText(day, { weekday: "short", day: "numeric", month: "short" });
  const way = (by: number, label: string, sign: string, open: boolean) =>
    open ? <a href={address(shift(by), span, room)} aria-label={label}>{sign}</a> : <span class="off" aria-hidden="true">{sign}</span>;
  return (
    <div class="steps">
      {way(-1, t("histBefore"), "‹", !h || first > h.first)}
      <strong role="status">{name}</strong>
      {way(1, t("histAfter"), "›", !h || last < h.today)}
      {h && (h.today < first || h.today > last) && <a class="today" href={address("", span, room)}>{t("histToday")}</a>}
    </div>
  );
}

/** Which room a week or a month is shown of. */
function Rooms({ h, day, span }: { h: History; day: string; span: Span }) {
  const names = h.room && !h.names.includes(h.room) ? [...h.names, h.room] : h.names;
  return (
    <p class="of">
      <label class="hidden" for="history-room">{t("histRooms")}</label>
      <select id="history-room" value={h.room} onChange={(e) => (location.hash = address(day, span, e.currentTarget.value))}>
        <option value="">{t("histHome")}</option>
        {names.map((n) => <option key={n} value={n}>{n}</option>)}
      </select>
    </p>
  );
}

function Empty({ h, zone }: { h: History; zone: string }) {
  const last = h.days.at(-1)?.date ?? "";
  const began = new Intl.DateTimeFormat(document.documentElement.lang, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).format(h.since * 1000);
  return last <= h.first ? (
    <p class="note"><strong>{t("histBegins", { time: began })}</strong> {t("histBeginsHelp")}</p>
  ) : (
    <p class="note">{t("histNoneHelp")}</p>
  );
}

const parts = 4; // of a day: night, morning, afternoon, evening

/** The one sentence about what is shown: where and when it was liveliest. */
export function sentence(h: History, span: Span, zone: string): string {
  if (known(h) === 0) return h.days.at(-1)!.date <= h.first ? t("histEmpty") : t("histNone");
  if (h.days.every((d) => !d.mean)) return t("histQuiet");
  if (span !== "day") {
    const best = h.days.reduce((a, b) => ((b.mean ?? 0) > (a.mean ?? 0) ? b : a));
    return t("histLiveliest", { day: dayText(best.date, span === "week" ? { weekday: "long" } : { weekday: "long", day: "numeric", month: "long" }) });
  }
  const hour = hours(zone);
  const { start } = h.days[0];
  const part = h.days[0].values.map((_, i) => Math.floor(hour(start + i * h.step) / (24 / parts)));
  let best = { room: "", part: 0, mean: 0 };
  for (const room of h.rooms.length > 0 ? h.rooms : [{ name: t("histHome"), values: h.days[0].values }])
    for (let p = 0; p < parts; p++) {
      const values = room.values.filter((v, i): v is number => v !== null && part[i] === p);
      const mean = values.reduce((a, b) => a + b, 0) / values.length;
      if (mean > best.mean) best = { room: room.name, part: p, mean };
    }
  if (!best.room) return t("histQuiet");
  const said = { room: best.room, part: t(`histPart${best.part}` as "histPart0") };
  return t(best.mean >= 50 ? "histMost" : best.mean >= 10 ? "histSome" : "histFew", said);
}

const stripText = (name: string, mean: number | null) => (mean === null ? t("histStripNone", { name }) : t("histStrip", { name, n: percent(mean) }));

/** Seven days below one another; each leads to its day. */
function Week({ h, zone }: { h: History; zone: string }) {
  const night = useMemo(() => nights(h.days[0], h.step, zone), [h, zone]);
  const rows = useMemo(
    () => h.days.map((d) => <HeatStrip strip={{ from: d.start, step: h.step, values: past(h, d, d.values) }} slots={d.values.length} label={stripText(dayText(d.date, { weekday: "long" }), d.mean)} />),
    [h],
  );
  return (
    <section class="week">
      <Nights night={night} />
      <ul>
        {h.days.map((d, i) => (
          <li key={d.date}>
            {d.date > h.today ? (
              <span class="date muted">{dayText(d.date, { weekday: "short", day: "numeric" })}</span>
            ) : (
              <a href={address(d.date, "day")}>
                <span class="date">{dayText(d.date, { weekday: "short", day: "numeric" })}</span>
                {rows[i]}
              </a>
            )}
          </li>
        ))}
      </ul>
      <p class="axis" aria-hidden="true"><span>00</span><span>06</span><span>{t("noon")}</span><span>18</span><span>24</span></p>
      <DayTable h={h} />
    </section>
  );
}

/** A calendar; each day leads to its day. */
function Month({ h }: { h: History }) {
  const lead = h.days.length > 0 ? weekday(h.days[0].date) : 0;
  const cells: (HistoryDay | null)[] = [...Array<null>(lead).fill(null), ...h.days];
  const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, i) => cells.slice(i * 7, i * 7 + 7));
  const monday = "2024-01-01";
  return (
    <section>
      <table class="month">
        <thead>
          <tr>
            {Array.from({ length: 7 }, (_, i) => (
              <th key={i} scope="col" abbr={dayText(shiftDays(monday, i), { weekday: "long" })}>{dayText(shiftDays(monday, i), { weekday: "short" })}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week, i) => (
            <tr key={i}>
              {week.map((d, k) => <td key={k}>{d && <DayCell d={d} h={h} />}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      <DayTable h={h} />
    </section>
  );
}

function DayCell({ d, h }: { d: HistoryDay; h: History }) {
  const number = dayText(d.date, { day: "numeric" }).replace(/\D+$/, "");
  if (d.date > h.today) return <span class="cell later">{number}</span>;
  return (
    <a class="cell" href={address(d.date, "day")} aria-label={stripText(dayText(d.date, { weekday: "long", day: "numeric", month: "long" }), d.mean)} aria-current={d.date === h.today ? "date" : undefined}>
      {number}
      <HeatStrip strip={{ from: d.start, step: d.length, values: [d.mean] }} label="" />
    </a>
  );
}

/** The days as a table. */
function DayTable({ h }: { h: History }) {
  return (
    <details>
      <summary>{t("histTable")}</summary>
      <div class="scroll" tabIndex={0}>
        <table class="figures">
          <thead><tr><th scope="col">{t("histDate")}</th><th scope="col">{t("histMotion")}</th></tr></thead>
          <tbody>
            {h.days.filter((d) => d.date <= h.today).map((d) => (
              <tr key={d.date}><th scope="row">{dayText(d.date, { weekday: "short", day: "numeric", month: "short" })}</th><td>{d.mean === null ? t("histUnknown") : percent(d.mean) + " %"}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
