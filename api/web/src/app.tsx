import { useSignal } from "@preact/signals";
import { render, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, dropProof, keepProof, onSignedOut } from "./api";
import { errand, takeErrand } from "./errand";
import "./look";
import { Dialogs } from "./part/dialog";
import { Later } from "./part/later";
import { Shell } from "./part/shell";
import { place, to } from "./route";
import { Home } from "./screen/home";
import { screens, setupScreens } from "./screens";
import { installing } from "./setup";
import { administrator, askRole, keepFresh, leave, overview, refresh, signOut, trouble, type Overview } from "./state";
import { chooseLanguage, fetchWords, refusal, t } from "./text";

const fetched: Record<string, ComponentType<any>> = { "": Home };

const signIn = () => import("./group/enter").then((m) => m.SignIn);
const doTask = () => Promise.all([import("./group/enter"), fetchWords()]).then(([m]) => m.errand);
const firstRun = () => Promise.all([import("./group/setup"), fetchWords()]).then(([m]) => m.firstrun);
const noHome = () => Promise.all([import("./group/setup"), fetchWords()]).then(([m]) => m.installs);

function App() {
  return <><Showing /><Dialogs /></>;
}

function Showing() {
  const o = overview.value;
  const task = errand.value;
  const screen = place.value.screen;
  if (task && task.kind !== "demo") return <Later key={task.kind + task.token} part={doTask} task={task} />;
  if (screen === "setup") return <Later key="setup" part={firstRun} />;
  if (o && screen === "wall") return <Current o={o} />;
  if (o !== null && (installing.value > 0 || screen === "installs")) return <Later key="installs" part={noHome} />;
  if (o) return <Shell o={o}><Current o={o} /></Shell>;
  if (o === null) return <Later key="in" part={signIn} />;
  if (trouble.value?.code === "network_away" && screen !== "box" && screen !== "me") return <Moved at={trouble.value.message.match(/https?:\/\/[^/ ,]+/)?.[0]} />;
  if (trouble.value?.status === 404) return <Later key="installs" part={noHome} />;
  if (!trouble.value) return <main class="loading" aria-busy="true" />;
  return <Stuck title={t("name")}><p role="alert">{refusal(trouble.value)}</p></Stuck>;
}

/** The screen that the address names; home for a name that is none. It starts anew for another home. */
function Current({ o }: { o: Overview }) {
  const broken = useSignal("");
  const came = useSignal(0);
  const known = { ...screens, ...setupScreens };
  const name = place.value.screen in known ? place.value.screen : "";
  const fetch = () => {
    broken.value = "";
    Promise.all([known[name](), fetchWords()]).then(
      ([Screen]) => {
        fetched[name] = Screen;
        came.value++;
      },
      () => (broken.value = name),
    );
  };
  useEffect(() => {
    if (!fetched[name]) fetch();
  }, [name]);
  const Screen = came.value >= 0 ? fetched[name] : undefined;
  if (Screen) return <Screen key={name + o.home.id} o={o} home={o.home} installer={false} />;
  if (broken.value !== name) return <main class="screen" aria-busy="true" />;
  return (
    <main class="screen">
      <p class="note" role="alert">{t("offline")} <button onClick={fetch}>{t("tryAgain")}</button></p>
    </main>
  );
}

/** The home goes, or has gone, to another box. */
function Moved({ at }: { at?: string }) {
  useEffect(() => void askRole(), []);
  return (
    <Stuck title={t(at ? "homeMoved" : "homeMoving")}>
      {at && <p>{t("homeMovedTo")} <a href={at}>{at}</a></p>}
      {administrator.value && <p><a href={to("box")}>{t("box")}</a></p>}
    </Stuck>
  );
}

/** Why there is no home to show: it could not be asked for. */
function Stuck({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <main class="signin">
      <h1 tabIndex={-1} ref={heading}>{title}</h1>
      {children}
      <button class="main" onClick={refresh}>{t("tryAgain")}</button>
      <button onClick={signOut}>{t("signOut")}</button>
    </main>
  );
}

/** Takes what a link is for out of the address; the link of the demo signs in. */
async function useLink() {
  takeErrand();
  const task = errand.value;
  if (task?.kind !== "demo") return;
  errand.value = undefined;
  await call<{ proof: string }>("POST", "/web/v1/demo-login", { code: task.token }).then((a) => keepProof(a.proof, false), () => {});
}

onSignedOut(() => {
  dropProof();
  leave();
});
// Over https and by name, not by address, the app is kept on the device.
if (location.protocol === "https:" && /[a-z]$/i.test(location.hostname)) void import("./group/aside").then((m) => m.keepOnDevice());
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
void Promise.all([chooseLanguage(), useLink().then(refresh)]).then(keepFresh);
