// What the screens of the set-up share: who sees them, the way between them, and their style.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { place, to } from "../route";
import { language, span } from "../text";
import { su, type SetupKey } from "../words/setup";
import { Page } from "./page";
import { useStyle } from "./style";

/** The home that is set up: an installer knows no more of it. */
export interface SetupHome {
  id: number;
  name: string;
  timezone: string;
  role: string; // "owner", "member"; "" for an installer
}

/** What each screen of the set-up is given. installer: somebody who does not live there. */
export interface SetupProps {
  home: SetupHome;
  installer: boolean;
}

/** Whether somebody may set the home up: its owner and its installers. */
export const mayInstall = ({ home, installer }: SetupProps) => installer || home.role === "owner";

/** The device at an end of a link. */
export interface DeviceRef {
  id: number | null;
  name: string;
  room: string;
}

/** Fetches the style of the set-up. */
export const useSetupStyle = () => useStyle("setup.css");

const tabs: [screen: string, name: SetupKey, who: "all" | "installer" | "member"][] = [
  ["devices", "suDevices", "installer"],
  ["links", "suLinks", "installer"],
  ["walk", "suWalk", "installer"],
  ["tuning", "suTuning", "all"],
  ["map", "suMap", "member"],
  ["sensors", "suSensors", "member"],
];

/** The way between the screens of the set-up, those that somebody may see. */
export function SetupTabs(props: SetupProps) {
  const nav = useRef<HTMLElement>(null);
  useEffect(() => nav.current?.querySelector("[aria-current=page]")?.scrollIntoView({ inline: "center", block: "nearest" }), []);
  const shown = tabs.filter(([, , who]) => who === "all" || (who === "installer" ? mayInstall(props) : !props.installer));
  return (
    <nav class="su-tabs" ref={nav} aria-label={su("suTabs")}>
      <ul>
        {shown.map(([screen, name]) => (
          <li key={screen}><a href={to(screen)} aria-current={place.value.screen === screen ? "page" : undefined}>{su(name)}</a></li>
        ))}
      </ul>
    </nav>
  );
}

/** A screen of the set-up: its one truth above, the way to the others below it. */
export function SetupPage({ title, truth, children, ...props }: SetupProps & { title: SetupKey; truth?: string; children: ComponentChildren }) {
  if (!useSetupStyle()) return <main class="screen" aria-busy="true" />;
  return (
    <Page title={su(title)} kind="su-screen" heading={truth || su(title)}>
      <SetupTabs {...props} />
      {children}
    </Page>
  );
}

/** A number as the reader's language writes it. */
export const figure = (n: number, digits = 1) => new Intl.NumberFormat(language.value, { maximumFractionDigits: digits }).format(n);

/** Figures by name as they stand in words; shares become percent. */
export function figures(of: Record<string, unknown> | null | undefined): Record<string, string> {
  const said: Record<string, string> = {};
  for (const [name, v] of Object.entries(of ?? {})) {
    if (typeof v === "number") said[name] = name === "missing" ? new Intl.NumberFormat(language.value, { style: "percent" }).format(v) : figure(v);
    else said[name] = String(v ?? "");
  }
  return said;
}

/** A length of time that runs out as 9:41, above an hour in words. */
export function countdown(seconds: number): string {
  if (seconds > 3600) return span(seconds);
  const s = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

/** The appliance's time, which goes on between its answers: ts is of the newest. Updates each second. */
export function useClock(ts: number | undefined): number {
  const [, tick] = useState(0);
  const skew = useRef(0);
  const known = useRef<number>();
  if (ts !== undefined && known.current !== ts) {
    known.current = ts;
    skew.current = ts - Date.now() / 1000;
  }
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return Date.now() / 1000 + skew.current;
}
