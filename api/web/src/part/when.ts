// Days and times of the home, and numbers of things, as the reader's language writes them.

import { codeText, language } from "../text";

const format = (zone: string, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language.value, { timeZone: zone, ...options });

/** "Tue 23:40". */
export const weekdayTime = (seconds: number, zone: string) => format(zone, { weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(seconds * 1000);

/** "Tue 24 Nov, 23:40". */
export const dayTime = (seconds: number, zone: string) => format(zone, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(seconds * 1000);

/** "Tue 24 Nov". */
export const shortDay = (seconds: number, zone: string) => format(zone, { weekday: "short", day: "numeric", month: "short" }).format(seconds * 1000);

/** "Tuesday, 24 November". */
export const longDay = (seconds: number, zone: string) => format(zone, { weekday: "long", day: "numeric", month: "long" }).format(seconds * 1000);

/** The date in the home's zone as 2026-11-24. */
export const isoDay = (seconds: number, zone: string) => new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" }).format(seconds * 1000);

/** A message in the form for n things: of the keys PREFIX_one and PREFIX_other. */
export const counted = (prefix: string, n: number) => codeText(prefix, new Intl.PluralRules(language.value).select(n) === "one" ? "_one" : "_other", { n: n.toLocaleString(language.value) });
