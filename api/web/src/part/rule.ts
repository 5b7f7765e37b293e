// Alerts of App Cloud as a form can say them.

import { language, span, t } from "../text";

export interface Action {
  action: "fcm_push" | "event";
  user_ids?: number[];
  payload: Record<string, unknown>;
}

export interface Rule {
  uuid: string;
  enabled: boolean;
  alert_name: string;
  rrule: string;
  monitor: { monitor_mode: "NONE" | "SIMPLE" | "INACTIVITY"; duration_minutes: number; inactive_minutes: number; repeat_monitoring: boolean };
  meta: Record<string, unknown>;
  analytics_tag: string;
  no_motion_actions: Action[];
  motion_actions: Action[];
  no_history_actions: Action[];
}

export type Days = "Daily" | "Weekdays" | "Weekend" | "Chosen" | "Once";
export type Finding = "Motion" | "Nobody" | "Still" | "Time";

/** What the form holds. */
export interface Draft {
  name: string;
  days: Days;
  chosen: string[]; // of weekdays, the days on which the time begins
  date: string; // of once, 2026-11-24
  from: string; // 06:00
  to: string;
  finding: Finding;
  minutes: number; // of Still
  scene: "" | "home" | "away";
  authenticated: boolean; // only devices that log in count
  users: number[]; // []: everyone
  unknown: string; // of Nobody and Still, what is told when too little is known; "": nothing
}

export const weekdays = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];
const workdays = weekdays.slice(0, 5);
const daySets: Partial<Record<Days, string[]>> = { Daily: weekdays, Weekdays: workdays, Weekend: weekdays.slice(5) };

const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const timeOf = (minutes: number) => [Math.floor(minutes / 60), minutes % 60].map((n) => String(n).padStart(2, "0")).join(":");

const dayMinutes = 1440;
/** How long it lasts from one time of day to the next of the other; equal ones are a whole day. */
export const lasts = (d: Draft) => (minutesOf(d.to) - minutesOf(d.from) + dayMinutes) % dayMinutes || dayMinutes;

/** Whether the time ends on the day after it began. A rule falls due at its end. */
const overnight = (d: Draft) => d.finding !== "Time" && minutesOf(d.to) <= minutesOf(d.from);

const shifted = (days: string[], by: number) => weekdays.filter((_, i) => days.includes(weekdays[(i - by + 7) % 7]));

function nextDay(date: string): string {
  const day = new Date(date + "T00:00:00Z");
  day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}

/** Whether a draft tells of motion that did not come: without data nobody knows whether it did. */
export const awaits = (d: Draft) => d.finding === "Nobody" || d.finding === "Still";

/** The recurrence of a draft; a date before it changes nothing but that of once. */
function recurrence(d: Draft, zone: string, today: string): string {
  const begins = d.days === "Once" ? d.date : today;
  const date = d.days === "Once" && overnight(d) ? nextDay(begins) : begins;
  const days = daySets[d.days] ?? d.chosen;
  const rule =
    d.days === "Once" ? "FREQ=DAILY;COUNT=1" :
    d.days === "Daily" ? "FREQ=DAILY" :
    "FREQ=WEEKLY;BYDAY=" + shifted(days, overnight(d) ? 1 : 0).join(",");
  return `DTSTART;TZID=${zone}:${date.replace(/-/g, "")}T${d.to.replace(":", "")}00\nRRULE:${rule}`;
}

/** Who is told: in the app's inbox by an event, and by a push where those are configured. */
function actions(d: Draft, title = d.name): Action[] {
  return [
    { action: "event", payload: d.users.length === 0 ? {} : { data: { users: d.users } } },
    {
      action: "fcm_push",
      user_ids: d.users,
      payload: {
        data: { title, body: title, click_action: "CustomAlertEvent", sound: "default" },
        apns: { headers: { "apns-push-type": "alert" }, payload: { aps: { alert: { title, body: title }, sound: "default", category: "CustomAlertEvent" } } },
      },
    },
  ];
}

type Written = Omit<Rule, "uuid">;

/** The rule that a draft says; of one that is changed, meta keeps what others wrote there. */
export function written(d: Draft, zone: string, today: string, enabled = true, meta: Record<string, unknown> = {}): Written {
  const tell = actions(d);
  const own: Record<string, unknown> = {};
  if (d.finding === "Motion") own.at_once = true;
  if (d.scene) own.scene = d.scene;
  if (d.authenticated && d.finding !== "Time") own.authenticated = true;
  return {
    enabled,
    alert_name: d.name,
    rrule: recurrence(d, zone, today),
    monitor: {
      monitor_mode: d.finding === "Time" ? "NONE" : d.finding === "Still" ? "INACTIVITY" : "SIMPLE",
      duration_minutes: d.finding === "Time" ? 0 : lasts(d),
      inactive_minutes: d.finding === "Still" ? d.minutes : 0,
      repeat_monitoring: false,
    },
    meta: { ...meta, sensegate: own },
    analytics_tag: "sensegate",
    no_motion_actions: d.finding === "Motion" ? [] : tell,
    motion_actions: d.finding === "Motion" ? tell : [],
    no_history_actions: d.unknown && awaits(d) ? actions(d, d.unknown) : [],
  };
}

/** JSON in which the order of keys does not matter. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, v) => (v && typeof v === "object" && !Array.isArray(v) ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1))) : v));

/** What actions of ours say; "" for none. */
function titleOf(actions: Action[]): string {
  const push = actions.find((a) => a.action === "fcm_push")?.payload.data as { title?: unknown } | undefined;
  return typeof push?.title === "string" ? push.title : "";
}

const form = /^DTSTART;TZID=([^:]+):(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)00\nRRULE:FREQ=(DAILY(;COUNT=1)?|WEEKLY;BYDAY=([A-Z,]+))$/;

/** A rule as a draft; null for one that says more, or other things, than the form can. */
export function drafted(r: Rule, zone: string): Draft | null {
  const found = form.exec(r.rrule.trim());
  if (!found || found[1] !== zone || r.analytics_tag !== "sensegate") return null;
  const [, , year, month, day, hours, minutes, , once, byDay] = found;
  const own = (r.meta.sensegate ?? {}) as { at_once?: boolean; scene?: "home" | "away"; authenticated?: boolean };
  const mode = r.monitor.monitor_mode;
  const to = `${hours}:${minutes}`;
  const tell = own.at_once ? r.motion_actions : r.no_motion_actions;
  const d: Draft = {
    name: r.alert_name,
    days: "Daily",
    chosen: workdays,
    date: `${year}-${month}-${day}`,
    from: timeOf((minutesOf(to) - r.monitor.duration_minutes + 8 * dayMinutes) % dayMinutes),
    to,
    finding: mode === "NONE" ? "Time" : mode === "INACTIVITY" ? "Still" : own.at_once ? "Motion" : "Nobody",
    minutes: r.monitor.inactive_minutes || 60,
    scene: own.scene ?? "",
    authenticated: own.authenticated ?? false,
    users: tell.find((a) => a.action === "fcm_push")?.user_ids ?? [],
    unknown: titleOf(r.no_history_actions),
  };
  const due = d.date;
  if (once) {
    d.days = "Once";
    if (overnight(d)) {
      const before = new Date(d.date + "T00:00:00Z");
      before.setUTCDate(before.getUTCDate() - 1);
      d.date = before.toISOString().slice(0, 10);
    }
  } else if (byDay) {
    d.chosen = shifted(byDay.split(","), overnight(d) ? -1 : 0);
    d.days = (["Weekdays", "Weekend"] as const).find((k) => canonical(daySets[k]) === canonical(d.chosen)) ?? "Chosen";
  }
  const again = written(d, zone, due, r.enabled, r.meta);
  const same = (Object.keys(again) as (keyof Written)[]).every((k) => canonical(again[k]) === canonical(k === "rrule" ? r.rrule.trim() : r[k]));
  return same ? d : null;
}

/** The days of a draft: "Every day", "Monday and Thursday". */
export function daysText(d: Draft): string {
  if (d.days === "Chosen") return new Intl.ListFormat(language.value).format(d.chosen.map((day) => weekdayName(day)));
  if (d.days === "Once") return new Intl.DateTimeFormat(language.value, { dateStyle: "full", timeZone: "UTC" }).format(new Date(d.date + "T00:00:00Z"));
  return t(`alDays${d.days}`);
}

/** The name of a weekday; 5 January 2026 was a Monday. */
export const weekdayName = (day: string, width: "long" | "short" = "long") =>
  new Intl.DateTimeFormat(language.value, { weekday: width, timeZone: "UTC" }).format(Date.UTC(2026, 0, 5 + weekdays.indexOf(day)));

/** A draft in a sentence; whom are the names of those it tells. */
export function draftText(d: Draft, whom: string): string {
  const values = { days: daysText(d), whom, from: d.from, to: d.to, time: span(d.minutes * 60) };
  const rule = t(d.finding === "Motion" && lasts(d) === dayMinutes ? "alSayMotionAll" : `alSay${d.finding}`, values);
  const said = d.scene === "home" ? t("alSayHome", { rule }) : d.scene === "away" ? t("alSayAway", { rule }) : rule;
  return d.authenticated && d.finding !== "Time" ? t("alSayLoggedIn", { rule: said }) : said;
}

/** The names of those whom an alert tells. */
export function whomText(users: number[], people: { id: number; name: string }[], self: number): string {
  if (users.length === 0) return t("alEveryone");
  return new Intl.ListFormat(language.value).format(users.map((id) => (id === self ? t("alYou") : people.find((p) => p.id === id)?.name || "?")));
}

/** The alerts to begin with. */
export function presets(): Record<string, { draft: Draft; help: string }> {
  const base: Draft = { name: "", days: "Daily", chosen: workdays, date: "", from: "06:00", to: "10:00", finding: "Nobody", minutes: 60, scene: "", authenticated: false, users: [], unknown: "?" };
  return {
    morning: { draft: { ...base, name: t("alPresetMorning"), scene: "home" }, help: t("alPresetMorningHelp") },
    away: { draft: { ...base, name: t("alPresetAway"), from: "00:00", to: "00:00", finding: "Motion", scene: "away" }, help: t("alPresetAwayHelp") },
    night: { draft: { ...base, name: t("alPresetNight"), from: "23:00", to: "06:00", finding: "Motion" }, help: t("alPresetNightHelp") },
    own: { draft: { ...base, from: "08:00", to: "20:00", finding: "Motion" }, help: "" },
  };
}
