import { useMemo } from "preact/hooks";
import { t } from "../text";

const night = (hour: number) => hour < 6 || hour >= 22;

export interface Hour {
  hour: number; // of the clock in the home
  from: number; // slots since midnight
  length: number; // slots
}

/** The hours of a home's day, which has 23 or 25 of them twice a year, in slots of step seconds. */
export function hoursOf(midnight: number, step: number, zone: string): Hour[] {
  const local = new Intl.DateTimeFormat("en", { hour: "numeric", hourCycle: "h23", timeZone: zone });
  const hours: Hour[] = [];
  for (let at = 0; at < (25 * 3600) / step; at++) {
    const hour = Number(local.format((midnight + at * step) * 1000));
    const last = hours.at(-1);
    if (hour === 0 && last && last.hour !== 0) break; // the next day
    if (last?.hour === hour && last.length * step < 3600) last.length++;
    else hours.push({ hour, from: at, length: 1 });
  }
  return hours;
}

/** The slots of a day. */
export const slotsOf = (hours: Hour[]) => hours.reduce((n, h) => n + h.length, 0);

export const useHours = (midnight: number, step: number, zone: string) => useMemo(() => hoursOf(midnight, step, zone), [midnight, step, zone]);

/** The axis below a day: the hours of the night are shaded, and four times have a name. */
export function HourAxis({ hours }: { hours: Hour[] }) {
  const n = slotsOf(hours);
  const mark = (at: number, text: string) => <span key={text} style={{ left: `${(100 * at) / n}%` }}>{text}</span>;
  return (
    <div class="hours" aria-hidden="true">
      <svg viewBox={`0 0 ${n} 1`} preserveAspectRatio="none">
        {hours.filter((h) => night(h.hour)).map((h) => <rect key={h.from} x={h.from} width={h.length} height={1} class="night" />)}
      </svg>
      {hours.filter((h, i) => h.hour % 6 === 0 && hours[i - 1]?.hour !== h.hour).map((h) => mark(h.from, h.hour === 12 ? t("noon") : String(h.hour).padStart(2, "0")))}
      {mark(n, "24")}
    </div>
  );
}
