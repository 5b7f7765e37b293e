// Tables as files, made in the page of what it shows.

import type { History } from "./history";
import { saveFile } from "./save";

/** A cell. Text that a spreadsheet would take for a formula is kept from being one. */
function cell(value: string | number | null): string {
  if (typeof value !== "string") return value === null ? "" : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** Local time as spreadsheets read it. */
function stamp(zone: string): (seconds: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  return (seconds) => format.format(seconds * 1000);
}

/** What is shown of the history: a line per quarter of an hour, of a month per day. Empty: no data. */
export function csvOf(h: History, span: string, zone: string): string {
  const time = stamp(zone);
  const name = h.room || "home";
  const lines: (string | number | null)[][] =
    span === "month"
      ? [["day", name], ...h.days.map((d) => [d.date, d.mean])]
      : [
          ["time", "utc_seconds", name, ...h.rooms.map((r) => r.name)],
          ...h.days.flatMap((d) =>
            d.values.map((v, i) => {
              const at = d.start + i * h.step;
              return [time(at), at, v, ...h.rooms.map((r) => r.values[i])];
            }),
          ),
        ];
  return lines.map((l) => l.map(cell).join(",") + "\r\n").join("");
}

/** Gives a text to the browser as a file. */
export const download = (name: string, text: string) => saveFile(new Blob(["\ufeff", text], { type: "text/csv;charset=utf-8" }), name);
