// What the appliance tells of motion over days.

export type Values = (number | null)[];

export interface HistoryDay {
  date: string;
  start: number;
  length: number;
  mean: number | null;
  values: Values;
}

export interface History {
  ts: number;
  since: number;
  first: string;
  today: string;
  room: string;
  step: number;
  names: string[];
  days: HistoryDay[];
  rooms: { name: string; values: Values }[];
}

export const percent = (v: number) => Math.round(v);

/** The values of a day as far as it is over; those to come are left out. */
export const past = (h: History, d: HistoryDay, values: Values) => values.slice(0, Math.max(0, Math.ceil((h.ts - d.start) / h.step)));
