import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { useAnswer } from "../answer";
import { call } from "../api";
import { Page, Waiting } from "../part/page";
import { now, type Overview } from "../state";
import { clock, language, refusal, t } from "../text";

interface Day {
  date: string;
  ts: number;
  percent: number | null;
}

interface Night {
  date: string;
  from: number;
  to: number;
  interruptions: number;
}

interface Nights {
  enabled: boolean;
  nights: Night[];
}

/** How the household lives: the activity of its days, and its nights. */
export function Screen({ o }: { o: Overview }) {
  const days = useAnswer<{ days: Day[] }>(`/web/v1/days?network_id=${o.home.id}`, 900);
  const nights = useAnswer<Nights>(`/web/v1/nights?network_id=${o.home.id}`, 900);
  if (days.refusal?.status === 404) return <Page title={t("insights")}><p class="note">{t("insightOff")}</p></Page>;
  return (
    <Page title={t("insights")} kind="insights">
      <section>
        <h2>{t("insightActivity")}</h2>
        <Waiting answer={days} />
        {days.value && <Activity days={days.value.days} />}
      </section>
      <section>
        <h2>{t("insightNights")}</h2>
        <Waiting answer={nights} />
        {nights.value && <Sleep o={o} answer={nights.value} again={nights.again} />}
      </section>
    </Page>
  );
}

/** A day, from its date as text: "Sun 22 Nov". */
function dayName(date: string): string {
  return new Intl.DateTimeFormat(language.value, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" }).format(new Date(date + "T12:00:00Z"));
}

const number = (n: number) => new Intl.NumberFormat(language.value, { maximumFractionDigits: 1 }).format(n);

function meanOf(values: number[]): number | null {
  return values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
}

function Activity({ days }: { days: Day[] }) {
  const hatch = useId();
  const known = days.flatMap((d) => (d.percent === null ? [] : [d.percent]));
  if (known.length === 0) return <p class="note"><strong>{t("insightWait")}</strong> {t("insightWaitHelp")}</p>;
  const today = days[days.length - 1].percent;
  const full = days.slice(0, -1).map((d) => d.percent);
  const week = meanOf(full.slice(-7).filter((v) => v !== null));
  const former = meanOf(full.slice(-14, -7).filter((v) => v !== null));
  const by = week === null || former === null ? 0 : Math.round(week - former);
  const high = Math.max(...known);
  return (
    <>
      {today !== null && <p class="truthful">{t("insightToday", { n: number(today) })}</p>}
      {week !== null && former !== null && <p>{t(by > 0 ? "insightMore" : by < 0 ? "insightLess" : "insightSame", { now: number(Math.round(week)), by: Math.abs(by) })}</p>}
      <svg class="bars" viewBox={`0 0 ${days.length} 40`} preserveAspectRatio="none" role="img" aria-label={t("insightDays", { n: days.length, low: number(Math.min(...known)), high: number(high) })}>
        <pattern id={hatch} width="0.2" height="3" patternUnits="userSpaceOnUse"><path d="M0 3L0.2 0" vector-effect="non-scaling-stroke" /></pattern>
        {days.map((d, i) => {
          const height = d.percent === null ? 40 : Math.max(1, (d.percent / Math.max(high, 10)) * 40);
          return <rect key={d.date} x={i + 0.12} width={0.76} y={40 - height} height={height} fill={d.percent === null ? `url(#${hatch})` : undefined} class={d.percent === null ? undefined : i === days.length - 1 ? "present" : "past"} />;
        })}
      </svg>
      <p class="axis" aria-hidden="true"><span>{dayName(days[0].date)}</span><span>{dayName(days[days.length - 1].date)}</span></p>
      <details>
        <summary>{t("insightTable")}</summary>
        <table>
          <thead><tr><th scope="col">{t("insightDay")}</th><th scope="col">{t("insightShare")}</th></tr></thead>
          <tbody>{[...days].reverse().map((d) => <tr key={d.date}><th scope="row">{dayName(d.date)}</th><td>{d.percent === null ? t("noData") : number(d.percent) + " %"}</td></tr>)}</tbody>
        </table>
      </details>
    </>
  );
}

const times = (n: number) => (n === 0 ? t("insightTimes0") : n === 1 ? t("insightTimes1") : t("insightTimes", { n }));
const restless = 4; // interruptions

function Sleep({ o, answer, again }: { o: Overview; answer: Nights; again: () => Promise<void> }) {
  const busy = useSignal(false);
  const wrong = useSignal("");
  const enable = async (enabled: boolean) => {
    busy.value = true;
    wrong.value = "";
    try {
      await call("POST", "/api/v1/sleep_times/settings", { network_id: o.home.id, enabled });
      await again();
    } catch (e) {
      wrong.value = refusal(e);
    }
    busy.value = false;
  };
  const button = (enabled: boolean) => (
    <p>
      <button class={enabled ? "main" : undefined} disabled={busy} onClick={() => enable(enabled)}>{t(enabled ? "insightSleepOn" : "insightSleepOff")}</button>
      <span class="wrong" role="alert">{wrong}</span>
    </p>
  );
  const owner = o.home.role === "owner";
  if (!answer.enabled)
    return (
      <div class="note">
        <p><strong>{t("insightSleepOffer")}</strong></p>
        <p>{t("insightSleepHelp")}</p>
        {owner ? button(true) : <p>{t("insightSleepOwner")}</p>}
      </div>
    );
  return (
    <>
      <NightList o={o} nights={answer.nights} />
      {owner && button(false)}
    </>
  );
}

/** Minutes since 18:00 in the home's zone: where an evening begins on the axis. */
function eveningMinutes(seconds: number, zone: string): number {
  const parts = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone }).formatToParts(seconds * 1000);
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value ?? 0);
  return (part("hour") * 60 + part("minute") + 6 * 60) % (24 * 60);
}

const shown = 18 * 60; // minutes on the axis, from 18:00 to noon

function NightList({ o, nights }: { o: Overview; nights: Night[] }) {
  if (nights.length === 0) return <p class="note">{t("insightNightNone")}</p>;
  const zone = o.home.timezone;
  const words = (n: Night) => ({ from: clock(n.from, zone), to: clock(n.to, zone), times: times(n.interruptions) });
  const last = nights[nights.length - 1];
  const recent = now.value - last.to < 86_400;
  const lengths = (of: Night[]) => meanOf(of.map((n) => n.to - n.from));
  const day = (ago: number) => new Date(Date.parse(last.date) - ago * 86_400_000).toISOString().slice(0, 10);
  const week = lengths(nights.filter((n) => n.date > day(7)));
  const former = lengths(nights.filter((n) => n.date <= day(7) && n.date > day(14)));
  const duration = (s: number) => {
    const format = (n: number, unit: string) => new Intl.NumberFormat(language.value, { style: "unit", unit, unitDisplay: "long" }).format(n);
    const minutes = Math.round(s / 60);
    return (minutes >= 60 ? format(Math.floor(minutes / 60), "hour") + " " : "") + format(minutes % 60, "minute");
  };
  return (
    <>
      <p class="truthful">{!recent && `${t("insightOlder")} (${dayName(last.date)}): `}{t(last.interruptions >= restless ? "insightRestless" : "insightQuiet", words(last))}</p>
      {week !== null && (
        <p>
          {former === null || Math.abs(week - former) < 60
            ? t("insightNightsMean", { now: duration(week) })
            : t(week > former ? "insightNightsMore" : "insightNightsLess", { now: duration(week), by: duration(Math.abs(week - former)) })}
        </p>
      )}
      <ol class="nightlist">
        {[...nights].reverse().map((n) => {
          const from = eveningMinutes(n.from, zone);
          const to = Math.max(from + 1, Math.min(eveningMinutes(n.to, zone), shown));
          return (
            <li key={n.date}>
              <span>{dayName(n.date)}</span>
              <svg viewBox={`0 0 ${shown} 12`} preserveAspectRatio="none" aria-hidden="true">
                <rect class="ground" x="0" y="5" width={shown} height="2" />
                <rect class="rest" x={from} y="1" width={to - from} height="10" />
              </svg>
              <small>{words(n).from}–{words(n).to} · {words(n).times}</small>
            </li>
          );
        })}
      </ol>
      <p class="axis nightaxis" aria-hidden="true"><span>18</span><span>00</span><span>06</span><span>{t("noon")}</span></p>
    </>
  );
}
