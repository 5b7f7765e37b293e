// What somebody sees who belongs to no home, or has chosen one that they only install: an installer
// knows the devices of a home, and not its motion.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer, type Answer } from "../answer";
import { call } from "../api";
import { errand } from "../errand";
import { sure } from "../part/dialog";
import { Icon } from "../part/icon";
import { Later } from "../part/later";
import { Page, Waiting } from "../part/page";
import { Languages } from "../part/signform";
import { longDay } from "../part/when";
import { go, goInstead, place, to } from "../route";
import { setupScreens } from "../screens";
import { installing, type Setup, type SetupHome } from "../setup";
import { overview, refresh, signOut } from "../state";
import { codeText, refusal, t } from "../text";

interface Session {
  user: { id: number; email: string; first_name: string };
  administrator?: boolean;
}

const box = () => import("../group/box").then((m) => m.box());

export function Screen() {
  const answer = useAnswer<Setup>("/web/v1/setup", 30);
  const s = answer.value;
  const homes = s?.homes.filter((h) => h.role === "installer") ?? [];
  const home = homes.find((h) => h.id === installing.value) ?? homes[0];
  const own = overview.value;
  const session = useAnswer<Session>("/web/v1/session");
  const looksAfter = session.value?.administrator ?? false;
  const boot = useAnswer<{ claimed: boolean }>(looksAfter ? "/web/v1/boot" : null);
  const screen = place.value.screen;
  const known = own || session.refusal || (session.value && (!looksAfter || boot.value || boot.refusal));
  const ready = looksAfter && boot.value?.claimed && s?.claimable.length === 0; // there is no home to set up
  const begin = screen !== "box" && s && known && !own && homes.length === 0 && ((s.code && !ready) || s.homes.length > 0);
  useEffect(() => {
    if (begin) goInstead("setup");
  }, [begin]);
  useEffect(() => {
    if (s && installing.value > 0 && !homes.some((h) => h.id === installing.value)) {
      installing.value = 0; // it has ended
      void refresh();
    }
  }, [s]);
  if (!s || begin || !known) return <main class="signin" aria-busy="true"><Waiting answer={answer} /></main>;
  if (looksAfter && !own && (screen === "box" || (screen !== "installs" && screen !== "me" && homes.length === 0))) return <Frame box home={home} homes={homes.length}><Later key="box" part={box} /></Frame>;
  if (homes.length === 0 && own) return <Frame><List homes={[]} again={answer.again} /></Frame>;
  if (screen === "me") return <Frame box={looksAfter} homes={homes.length}><Me session={session} /></Frame>;
  if (!home) return looksAfter ? <Frame box homes={0}><List homes={[]} again={answer.again} /></Frame> : <NoHome />;
  if (!(screen in setupScreens)) return <Frame box={looksAfter}><List homes={homes} again={answer.again} /></Frame>;
  return <Frame box={looksAfter} home={home}><Later key={screen + home.id} part={setupScreens[screen]} home={{ id: home.id, name: home.name, timezone: home.timezone, role: "" }} installer={true} /></Frame>;
}

/** The account of somebody who lives in none of the homes. */
function Me({ session }: { session: Answer<Session> }) {
  const user = session.value?.user;
  if (!user) return <main class="screen" aria-busy="true"><Waiting answer={session} /></main>;
  const fetch = () => import("./me").then((m) => m.Screen);
  return <Later part={fetch} o={overview.value ?? undefined} who={{ id: user.id, name: user.first_name || user.email, email: user.email }} />;
}

/** Somebody who belongs to no home, and has shown no code. */
function NoHome() {
  return (
    <Page title={t("noHome")} kind="fr-alone">
      <p>{t("noHomeHelp")}</p>
      <p class="row">
        <button class="main" onClick={refresh}>{t("tryAgain")}</button>
        <button onClick={() => (errand.value = { kind: "join", token: "", network: 0 })}>{t("haveCode")}</button>
        <button onClick={() => go("setup")}>{t("frHaveSetupCode")}</button>
        <button onClick={() => go("me")}>{t("me")}</button>
        <button onClick={signOut}>{t("signOut")}</button>
      </p>
    </Page>
  );
}

/** What stands around the screens of an installer. */
function Frame({ home, homes = 1, box = false, children }: { home?: SetupHome; homes?: number; box?: boolean; children: preact.ComponentChildren }) {
  const at = place.value.screen;
  const way = (screen: string, name: string, here: boolean) => (
    <li><a href={to(screen)} aria-current={here ? "page" : undefined} onClick={screen === "" ? () => (installing.value = 0) : undefined}><Icon of={screen} /><span>{name}</span></a></li>
  );
  return (
    <div class="app">
      <header class="top">
        <img src="icon.svg" alt="" width="28" height="28" />
        <span class="place">{home?.name || t("name")}</span>
      </header>
      <nav class="ways" aria-label={t("screens")}>
        <ul>
          {overview.value && way("", t("home"), false)}
          {box && way("box", t("box"), at !== "installs" && at !== "me" && !(at in setupScreens))}
          {(homes > 0 || !box) && way("installs", t("installs"), at === "installs" || (!box && home === undefined && at !== "me"))}
          {home && way("devices", t("setup"), at in setupScreens)}
          {!overview.value && way("me", t("me"), at === "me")}
        </ul>
      </nav>
      <div>{children}</div>
    </div>
  );
}

/** The homes that somebody installs. */
function List({ homes, again }: { homes: SetupHome[]; again: () => Promise<void> }) {
  const session = useAnswer<Session>("/web/v1/session");
  const wrong = useSignal("");
  const user = session.value?.user;
  const end = async (h: SetupHome) => {
    wrong.value = "";
    try {
      if (!user || !(await sure(t("frLeave", { home: h.name || t("home") }), t("frLeaveWhy"), t("frLeaveYes")))) return;
      await call("DELETE", `/web/v1/installers/${user.id}?network_id=${h.id}`);
      await again();
    } catch (e) {
      wrong.value = refusal(e);
    }
  };
  const open = (h: SetupHome) => {
    installing.value = h.id;
    go("devices");
  };
  return (
    <Page title={t(homes.length > 0 || overview.value ? "installs" : "me")} kind="fr-installs">
      {homes.length > 0 && <p>{t("frInstallsWhy")}</p>}
      <p class="wrong" role="alert">{wrong}</p>
      {homes.length === 0 && <p class="note">{t("frInstallsNone")}</p>}
      <ul class="list">
        {homes.map((h) => (
          <li key={h.id}>
            <span class="grow">
              <strong>{h.name || t("home")}</strong>
              <br />
              <small>{t("frUntil", { day: longDay(h.until ?? 0, h.timezone) })}{h.step !== "" && ` · ${t("frNext", { step: codeText("frStep_", h.step) })}`}</small>
            </span>
            <span class="row">
              <button class="main" onClick={() => open(h)}>{t("frToDevices")}<span class="hidden"> {h.name}</span></button>
              {h.step !== "" && <a class="fr-go" href={`#/setup?home=${h.id}`}>{t("frGoOn")}<span class="hidden"> {h.name}</span></a>}
              <button onClick={() => void end(h)}>{t("frLeaveYes")}<span class="hidden"> {h.name}</span></button>
            </span>
          </li>
        ))}
      </ul>
      <section class="fr-account">
        {user && <p>{t("joinAs", { name: user.first_name || user.email })}</p>}
        <p class="row">
          <button onClick={() => (errand.value = { kind: "join", token: "", network: 0 })}>{t("haveCode")}</button>
          <button onClick={signOut}>{t("signOut")}</button>
        </p>
        <Languages />
      </section>
    </Page>
  );
}
