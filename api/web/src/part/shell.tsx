import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { place, to } from "../route";
import { setupScreens } from "../screens";
import { installs } from "../setup";
import { administrator, choose, connected, lost, now, trouble, type Overview } from "../state";
import { clock, fetchWords, language, refusal, t } from "../text";
import { Icon } from "./icon";
import { Later } from "./later";
import { screenTitle } from "./page";
import { counted, dayTime } from "./when";
import type { Messages } from "../words/en";

/** The screens that stand in the navigation: the first four always, the others behind "More" on a phone. */
const ways: [screen: string, name: keyof Messages][] = [
  ["", "home"],
  ["history", "history"],
  ["alerts", "alerts"],
  ["people", "peopleTitle"],
  ["live", "live"],
  ["insights", "insights"],
  ["devices", "setup"],
  ["installs", "installs"],
  ["box", "box"],
  ["inbox", "inbox"],
  ["me", "me"],
];
const direct = 4;

/** Which of them are for somebody. */
const open = (o: Overview) => ways.filter(([screen]) => (screen === "devices" ? o.home.role === "owner" : screen === "box" ? administrator.value : screen !== "installs" || installs.value.length > 0));

/** What stands around every screen. */
export function Shell({ o, children }: { o: Overview; children: ComponentChildren }) {
  return (
    <div class="app">
      <header class="top">
        <img src="icon.svg" alt="" width="28" height="28" />
        {o.homes.length < 2 ? <span class="place">{o.home.name || t("home")}</span> : <Homes o={o} />}
      </header>
      <Ways o={o} />
      <div>
        {o.demo && <Later quiet part={demoBar} o={o} />}
        <Trouble o={o} />
        <Later quiet part={setupNote} o={o} />
        {children}
      </div>
    </div>
  );
}

const most = 100; // unread notices that are counted

/** How many notices are unread: behind the name in the navigation, in the window's title, and said when it grows. */
function useUnread(n: number): string {
  const before = useRef(n);
  const said = useSignal("");
  useEffect(() => {
    if (n !== before.current) said.value = n > before.current ? `${t("inbox")}: ${counted("ibUnread", n)}` : "";
    before.current = n;
  }, [n]);
  const title = screenTitle.value;
  useEffect(() => {
    document.title = (n > 0 ? `(${n < most ? n : most - 1 + "+"}) ` : "") + (title ? `${title} · ` : "") + t("name");
  }, [n, title, language.value]);
  return said.value;
}

/** Parts that are fetched where they are needed. */
const demoBar = () => Promise.all([import("../group/aside"), fetchWords()]).then(([m]) => m.DemoBar);
const setupNote = () => Promise.all([import("../group/aside"), fetchWords()]).then(([m]) => m.SetupNote);

function Ways({ o }: { o: Overview }) {
  const unread = o.unread;
  const said = useUnread(unread);
  const more = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (more.current) more.current.open = false;
  };
  const way = ([screen, name]: (typeof ways)[number]) => (
    <li key={screen}>
      <a href={to(screen)} aria-current={place.value.screen === screen || (screen === "devices" && place.value.screen in setupScreens) ? "page" : undefined} onClick={close}>
        <Icon of={screen} />
        <span>
          {t(name)} {screen === "inbox" && unread > 0 && <><span class="badge" aria-hidden="true">{unread < most ? unread : most - 1 + "+"}</span><span class="hidden">{counted("ibUnread", unread)}</span></>}
        </span>
      </a>
    </li>
  );
  const shown = open(o);
  const rest = shown.slice(direct);
  return (
    <nav class="ways" aria-label={t("screens")}>
      <p class="hidden" role="status">{said}</p>
      <ul>
        {shown.slice(0, direct).map(way)}
        {rest.length > 0 && (
          <li class="narrow">
            <details class="more" ref={more} onKeyDown={(e) => e.key === "Escape" && close()}>
              <summary><Icon of="more" />{t("more")}</summary>
              <ul>{rest.map(way)}</ul>
            </details>
          </li>
        )}
        {rest.map((w) => <li key={"wide" + w[0]} class="wide">{way(w).props.children}</li>)}
      </ul>
    </nav>
  );
}

/** The homes to choose from. */
function Homes({ o }: { o: Overview }) {
  return (
    <span class="place">
      <label class="hidden" for="home">{t("home")}</label>
      <select id="home" value={o.home.id} onChange={(e) => choose(Number(e.currentTarget.value))}>
        {o.homes.map((h) => <option key={h.id} value={h.id}>{h.name || t("home")}</option>)}
      </select>
    </span>
  );
}

const aDay = 86_400; // s

/** What is wrong with the connection, above old values. */
function Trouble({ o }: { o: Overview }) {
  const e = trouble.value;
  if (lost.value)
    return (
      <p class="banner" role="alert">
        {t("lostHome", { home: lost.value, now: o.home.name || t("home") })} <button onClick={() => (lost.value = "")}>{t("understood")}</button>
      </p>
    );
  if (!e && o.read_only) return <p class="banner" role="status">{t("readOnly")}</p>;
  if (!e && (connected.value || !o.home.live || !o.home.asked)) return null;
  if (!e && now.value - o.ts < 10) return null;
  const time = (Date.now() / 1000 - o.ts > aDay ? dayTime : clock)(o.ts, o.home.timezone);
  return (
    <p class="banner" role="status">
      {e?.status === 0 ? t("unreached", { time }) : <>{e ? refusal(e) : t("reconnecting")} {t("asOf", { time })}</>}
    </p>
  );
}
