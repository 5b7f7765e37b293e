// What the parts of the box share.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../answer";
import { call, Refusal } from "../api";
import { useAct } from "../part/act";
import { Link, QR } from "../part/code";
import { dayTime } from "../part/when";
import { now, overview } from "../state";
import { ago, codeText, language, t } from "../text";

/** The path of a row for administrators. */
export const row = (path: string) => "/web/v1/admin/" + path;

/** Gives a refusal the words of the box for its code, if there are some. */
export function worded(e: unknown): unknown {
  if (e instanceof Refusal) e.said = codeText("bxNo_", e.code);
  return e;
}

/** Calls a row for administrators. */
export async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  try {
    return await call<T>(method, row(path), body);
  } catch (e) {
    throw worded(e);
  }
}

/** The home's zone, else the browser's: the box has none. */
export const zone = () => overview.value?.home.timezone || Intl.DateTimeFormat().resolvedOptions().timeZone;

/** "Tue 24 Nov, 23:40". */
export const when = (at: number) => dayTime(at, zone());

/** How long ago. */
export const since = (at: number) => ago(Math.max(0, (now.value || Date.now() / 1000) - at));

export const number = (n: number, digits = 0) => new Intl.NumberFormat(language.value, { maximumFractionDigits: digits }).format(n);

const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** "12.3 MB". */
export function bytes(n: number): string {
  const step = n < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(n) / 3));
  return new Intl.NumberFormat(language.value, { style: "unit", unit: units[step], maximumFractionDigits: step < 2 ? 0 : 1 }).format(n / 1000 ** step);
}

/** What is shown once: as a QR code when another device is to open it, and to be copied. */
export interface Secret {
  title: string;
  text?: string;
  qr?: string;
  code?: string;
  values: [name: string, value: string][];
}

/** A secret that was made just now. done puts it away. */
export function Once({ of, done }: { of: Secret; done: () => void }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  return (
    <section class="card handed bx-once">
      {of.qr && <QR text={of.qr} label={t("qrLabel")} />}
      <div>
        <h2 tabIndex={-1} ref={title}>{of.title}</h2>
        <p>{of.text ?? t("bxOnce")}</p>
        {of.code && <p class="code">{of.code}</p>}
        {of.values.map(([name, value]) => <div key={name}><h3>{name}</h3><Link link={value} label={name} /></div>)}
        <div><button onClick={done}>{t("bxDone")}</button></div>
      </div>
    </section>
  );
}

/** What is opened to make something new; open where there is nothing yet. */
export const New = ({ title, open, children }: { title: string; open: boolean; children: ComponentChildren }) => (
  <details class="bx-new" open={open}>
    <summary>{title}</summary>
    {children}
  </details>
);

/** Names with what stands for them. */
export const Facts = ({ of }: { of: [name: string, value: ComponentChildren][] }) => (
  <dl class="bx-facts">{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
);

/** Parts of a whole, 0 to 1 each, as a bar. Words beside it say the same. */
export function Bar({ parts }: { parts: number[] }) {
  let from = 0;
  return (
    <svg class="bx-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {parts.map((part, i) => {
        const x = 100 * from;
        from += part;
        return <rect key={i} class={"bx-part" + i} x={x} y={0} width={100 * part} height={8} />;
      })}
    </svg>
  );
}

/** Lines that come newest first, some at a time. */
export function useLines<L extends { id: number }>(path: string, every = 0) {
  const newest = useAnswer<{ lines: L[]; more: boolean }>(row(path), every);
  const all = useRef<{ path: string; lines: Map<number, L>; more?: boolean }>({ path, lines: new Map() });
  if (all.current.path !== path) all.current = { path, lines: new Map() };
  for (const line of newest.value?.lines ?? []) all.current.lines.set(line.id, line);
  const lines = [...all.current.lines.values()].sort((a, b) => b.id - a.id);
  const { busy, wrong, act } = useAct(async () => {});
  const more = () =>
    act(async () => {
      const older = await ask<{ lines: L[]; more: boolean }>("GET", `${path}${path.includes("?") ? "&" : "?"}before=${lines.at(-1)!.id}`);
      if (all.current.path !== path) return;
      for (const line of older.lines) all.current.lines.set(line.id, line);
      all.current.more = older.more;
    });
  const button = (
    <>
      <p class="wrong" role="alert">{wrong}</p>
      {lines.length > 0 && (all.current.more ?? newest.value?.more) && <p><button disabled={busy} onClick={more}>{t("bxMore")}</button></p>}
    </>
  );
  return { answer: newest, lines, button };
}
