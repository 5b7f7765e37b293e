// Days of the home, as the appliance names them: "2026-11-22". Their arithmetic needs no zone.

import { language } from "../text";

const at = (day: string) => new Date(day + "T00:00:00Z");
const text = (date: Date) => date.toISOString().slice(0, 10);

/** Whether something from an address is a day. */
export const isDay = (day: string) => /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(at(day).getTime()) && text(at(day)) === day;

/** The day so many days later. */
export function shiftDays(day: string, by: number): string {
  const date = at(day);
  date.setUTCDate(date.getUTCDate() + by);
  return text(date);
}

/** The first day of the month so many months later. */
export function shiftMonths(day: string, by: number): string {
  const date = at(day);
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + by);
  return text(date);
}

/** The number of the weekday, Monday 0. */
export const weekday = (day: string) => (at(day).getUTCDay() + 6) % 7;

/** The day in words. */
export const dayText = (day: string, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(language.value, { ...options, timeZone: "UTC" }).format(at(day));

/** Returns what tells the hour of a time, 0 to 23, in a zone. */
export function hours(zone: string): (seconds: number) => number {
  const format = new Intl.DateTimeFormat("en", { hour: "2-digit", hourCycle: "h23", timeZone: zone });
  return (seconds) => Number(format.format(seconds * 1000));
}
