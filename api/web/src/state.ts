// What the page knows: of the home, of the connection, and of who is signed in.

import { signal } from "@preact/signals";
import { call, dropProof, live, proof, Refusal, type Live } from "./api";
import { chooseLanguage, language, list, t } from "./text";

export interface Strip {
  from: number;
  step: number;
  values: (number | null)[];
}

export interface Room {
  name: string;
  state: "motion" | "quiet" | "unknown" | "blind";
  why: string;
  last_motion: number | null;
  strip: Strip;
}

export interface Overview {
  ts: number;
  user: { id: number; name: string; email: string };
  home: { id: number; name: string; timezone: string; role: string; scene: "home" | "away"; scene_at: number; scene_by: string; away_at: number; since: number; live: boolean; asked: boolean };
  homes: { id: number; name: string }[];
  state: "motion" | "quiet" | "unknown" | "paused";
  last_motion: number | null;
  rooms: Room[];
  first_motion?: { at: number; room: string };
  today: Strip;
  people: { id: number; name: string; role: string; self: boolean; present: boolean; at: number }[];
  faults: { name: string; location: string; code: string }[];
  devices: number;
  read_only: boolean; // there is too little room on the appliance's disk
  presence_shown: boolean; // Home Assistant is told whether members are at home who agree
  unread: number;
  paused_until: number | null;
  demo: boolean;
  unplugged: string; // in the demo
}

/** Live motion of half a second. */
export interface Frame {
  ts: number;
  links: string[];
  data: { mkai: (number | null)[]; lraw: (number | null)[]; reach: (number | null)[] }; // one value of each link
  motion_enabled: number;
  loc_name: string; // the likeliest of the rooms
  rooms: string[]; // motion is in one of them
  motion_tripped: number | null;
  last_motion: number | null;
}

/** undefined: not asked yet; null: nobody is signed in. */
export const overview = signal<Overview | null | undefined>(undefined);
/** The room where motion is now, or those of which it is in one, "" for none. */
export const moving = signal("");
/** Whether live motion comes in. */
export const connected = signal(false);
/** The home that was shown and that the caller no longer belongs to, "" for none. */
export const lost = signal("");
/** Why the last request failed: undefined when it did not. */
export const trouble = signal<Refusal | undefined>(undefined);
/** Whether the caller may look after the box, from where they are. */
export const administrator = signal(false);
/** The appliance's time, in seconds: ages count from it and not from the phone's clock. */
export const now = signal(0);

/** What is given each frame of live motion, besides what this page shows by itself. */
export const readers = new Set<(frame: Frame) => void>();

let stream: Live | undefined;
let watched = 0; // the home of the stream
let chosen = 0; // the home to show; 0: the first
let asked = 0; // number of the newest request; the answers of others come too late
let heard = 0; // when something was last heard, ms of our clock
let fetched = 0; // when the home was last asked for, ms of our clock
let enabled = -1; // motion_enabled of the newest frame
let likeliest = ""; // room of the last frame since the home was asked for
let clockSkew = 0; // s, of the appliance's clock against ours

const tick = () => (now.value = Date.now() / 1000 + clockSkew);

let speaker = 0; // whose language was asked for

/** Asks whether the caller looks after the box. */
export async function askRole() {
  administrator.value = await call<{ administrator?: boolean }>("GET", "/web/v1/session").then((s) => s.administrator === true, () => false);
}

/** Takes the language that the user chose in another browser. */
async function speakAs() {
  const kept = (await call<{ web_language?: string }>("GET", "/api/v1/user/meta").catch(() => undefined))?.web_language;
  if (kept && kept !== language.value) await chooseLanguage(kept);
}

/** Asks for the home anew. */
export async function refresh() {
  if (proof() === "") return leave();
  const mine = ++asked;
  try {
    const got = await call<Overview>("GET", "/web/v1/overview" + (chosen ? `?network_id=${chosen}` : ""));
    if (mine !== asked) return;
    fetched = heard = Date.now();
    clockSkew = got.ts - heard / 1000;
    tick();
    trouble.value = undefined;
    const before = overview.value;
    if (before && before.user.id === got.user.id && before.home.id !== got.home.id && chosen !== got.home.id) lost.value = before.home.name || t("home");
    overview.value = got;
    if (got.state !== "motion") moving.value = "";
    likeliest = ""; // it says of rooms what was in the last minutes
    if (speaker !== got.user.id) {
      speaker = got.user.id;
      void speakAs();
      void askRole();
    }
    watch(got);
  } catch (e) {
    if (mine !== asked || !(e instanceof Refusal) || e.status === 401) return;
    if (e.status === 404 && chosen) {
      chosen = 0;
      return refresh();
    }
    trouble.value = e;
    if (e.status === 404) unwatch();
    if (e.status === 404 || overview.value === null) overview.value = undefined;
  }
}

/** Shows the home as it was kept, while the appliance does not answer: ages are of then. */
export function showOld(o: Overview) {
  clockSkew = o.ts - Date.now() / 1000;
  tick();
  overview.value = o;
}

/** Shows another home of the caller's; to choose one that has added them is to join it. */
export function choose(id: number) {
  chosen = id;
  lost.value = "";
  void refresh();
}

/** Forgets the home: nobody is signed in any more. */
export function leave() {
  asked++;
  chosen = 0;
  unwatch();
  trouble.value = undefined;
  lost.value = "";
  speaker = 0;
  administrator.value = false;
  overview.value = null;
}

/** Ends the session and forgets it here. */
export async function signOut() {
  try {
    await call("DELETE", "/web/v1/session");
  } catch (e) {
    if (e instanceof Refusal && e.status !== 401) {
      trouble.value = e; // the session goes on: say so
      return;
    }
  }
  dropProof();
  leave();
  location.hash = "";
}

function unwatch() {
  stream?.close();
  stream = undefined;
  connected.value = false;
  moving.value = "";
}

function watch(o: Overview) {
  const wanted = o.home.live && o.home.asked;
  if (stream && wanted && watched === o.home.id) return;
  unwatch();
  if (!wanted) return;
  watched = o.home.id;
  const up = (open: boolean) => {
    if (open && !connected.value) void refresh();
    connected.value = open;
  };
  const gone = () => {
    unwatch();
    void refresh();
  };
  stream = live(`/web/v1/motions?network_id=${watched}`, take, up, gone);
}

/** Takes a frame of live motion. */
function take(frame: Frame) {
  const o = overview.value;
  if (!o) return;
  heard = Date.now();
  clockSkew = frame.ts - heard / 1000;
  tick();
  for (const read of readers) read(frame);
  if (enabled >= 0 && enabled !== frame.motion_enabled) void refresh(); // a pause has begun, or ended
  enabled = frame.motion_enabled;
  const room = frame.motion_tripped === 1 ? frame.loc_name : "";
  const place = room && list(frame.rooms, "disjunction");
  const state = o.state === "paused" ? "paused" : frame.motion_tripped === null ? "unknown" : frame.motion_tripped === 1 ? "motion" : "quiet";
  if (state === o.state && place === moving.value && room === likeliest) return;
  if (room && place !== moving.value && !o.rooms.some((r) => r.name === room)) void refresh(); // it has another name by now
  likeliest = room;
  moving.value = place;
  overview.value = {
    ...o,
    state,
    last_motion: frame.last_motion ?? o.last_motion,
    rooms: o.rooms.map((r) => (r.state === "blind" ? r : { ...r, state: r.name === room ? "motion" : r.state === "motion" ? "quiet" : r.state, last_motion: r.name === room ? frame.ts : r.last_motion })),
  };
}

const minute = 60_000;
const silent = 10_000; // ms without a frame, after which the appliance is asked

/** Whether the end of a pause, or the change to away, has come since the home was asked for. */
function due(o: Overview | null | undefined): boolean {
  const passed = (at: number | null) => at !== null && at > 0 && at < now.value && at > (o?.ts ?? 0);
  return !!o && (passed(o.paused_until) || passed(o.home.away_at));
}

/** Keeps what is shown fresh while the page is looked at. */
export function keepFresh() {
  const seen = () => document.visibilityState === "visible" && overview.value !== null;
  setInterval(() => {
    tick();
    const since = (at: number) => Math.abs(Date.now() - at); // the clock may have been set
    if (seen() && (trouble.value || since(fetched) > minute || due(overview.value) || since(heard) > (connected.value ? silent : minute))) void refresh();
  }, 5000);
  document.addEventListener("visibilitychange", () => seen() && void refresh());
}
