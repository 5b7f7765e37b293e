// The screens that are fetched when they are first opened, by their names in the address.

import type { ComponentType } from "preact";
import type { Overview } from "./state";

/** A screen for those who live in a home. */
export type Screen = ComponentType<{ o: Overview }>;

/** A screen for those who set a home up, and who may know no more of it than this. */
export type SetupScreen = ComponentType<{ home: { id: number; name: string; timezone: string; role: string }; installer: boolean }>;

export const screens: Record<string, () => Promise<{ Screen: Screen }>> = {
  alerts: () => import("./screen/alerts"),
  inbox: () => import("./screen/inbox"),
  history: () => import("./screen/history"),
  people: () => import("./screen/people"),
  rooms: () => import("./screen/rooms"),
  live: () => import("./screen/live"),
  insights: () => import("./screen/insights"),
  wall: () => import("./screen/wall"),
  me: () => import("./screen/me"),
  moment: () => import("./screen/moment"),
  box: () => import("./group/box").then((m) => m.fetched()),
};

export const setupScreens: Record<string, () => Promise<{ Screen: SetupScreen }>> = {
  devices: () => import("./screen/devices"),
  links: () => import("./screen/links"),
  walk: () => import("./screen/walk"),
  tuning: () => import("./screen/tuning"),
  map: () => import("./screen/map"),
  sensors: () => import("./screen/sensors"),
};
