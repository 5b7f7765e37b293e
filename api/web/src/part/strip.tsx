import type { Strip } from "../state";
import { t } from "../text";
import { hours } from "./day";

/** The step of the heat scale, 0 to 5, of a percentage. */
export const heat = (percent: number) => (percent <= 0 ? 0 : percent < 5 ? 1 : percent < 15 ? 2 : percent < 35 ? 3 : percent < 65 ? 4 : 5);

/** The mean of what is known, in whole percent; null when nothing is. */
export function mean(strip: Strip): number | null {
  const known = strip.values.filter((v) => v !== null);
  return known.length === 0 ? null : Math.round(known.reduce((a, b) => a + b, 0) / known.length);
}

/** Motion over time: one scale by lightness, and hatching where there is no data. Without a label it is decoration. */
export function HeatStrip({ strip, slots, label }: { strip: Strip; slots?: number; label: string }) {
  const n = slots ?? strip.values.length;
  return (
    <svg class="strip" viewBox={`0 0 ${n} 10`} preserveAspectRatio="none" role={label ? "img" : undefined} aria-label={label || undefined} aria-hidden={!label}>
      {strip.values.map((v, i) => <rect key={i} x={i} y={0} width={1.02} height={10} class={v === null ? "gap" : "heat" + heat(v)} />)}
      {n > strip.values.length && <rect x={strip.values.length} y={0} width={n - strip.values.length} height={10} class="later" />}
    </svg>
  );
}

/** Which steps of a day are of its night. */
export function nights(day: { start: number; values: unknown[] }, step: number, zone: string): boolean[] {
  const hour = hours(zone);
  return day.values.map((_, i) => hour(day.start + i * step)).map((h) => h < 6 || h >= 22);
}

/** The night hours, shaded behind strips. */
export function Nights({ night }: { night: boolean[] }) {
  return (
    <svg class="nights" viewBox={`0 0 ${night.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {night.map((v, i) => v && <rect key={i} x={i} y="0" width="1.02" height="1" />)}
    </svg>
  );
}

/** What a room's strip says, for those who cannot see it. */
export function stripText(strip: Strip): string {
  const n = mean(strip);
  return n === null ? t("stripEmpty") : t("stripSummary", { n });
}
