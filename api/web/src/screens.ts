// The screens that are fetched when one of their group is first opened, by their names in the address.

import type { ComponentType } from "preact";
import type { Overview } from "./state";

/** A screen for those who live in a home. */
export type Screen = ComponentType<{ o: Overview }>;

/** A screen for those who set a home up, and who may know no more of it than this. */
export type SetupScreen = ComponentType<{ home: { id: number; name: string; timezone: string; role: string }; installer: boolean }>;

const everyday = () => import("./group/everyday");
const setup = () => import("./group/setup");

export const screens: Record<string, () => Promise<Screen>> = {
  alerts: () => everyday().then((m) => m.alerts),
  inbox: () => everyday().then((m) => m.inbox),
  history: () => everyday().then((m) => m.history),
  people: () => everyday().then((m) => m.people),
  rooms: () => everyday().then((m) => m.rooms),
  live: () => everyday().then((m) => m.live),
  insights: () => everyday().then((m) => m.insights),
  wall: () => everyday().then((m) => m.wall),
  me: () => everyday().then((m) => m.me),
  moment: () => everyday().then((m) => m.moment),
  box: () => import("./group/box").then((m) => m.box()),
};

export const setupScreens: Record<string, () => Promise<SetupScreen>> = {
  devices: () => setup().then((m) => m.devices),
  links: () => setup().then((m) => m.links),
  walk: () => setup().then((m) => m.walk),
  tuning: () => setup().then((m) => m.tuning),
  map: () => setup().then((m) => m.map),
  sensors: () => setup().then((m) => m.sensors),
};
