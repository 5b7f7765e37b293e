import { useSignal } from "@preact/signals";
import { render, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, dropProof, keepProof, onSignedOut } from "./api";
import { errand, takeErrand, type Errand } from "./errand";
import "./look";
import { Dialogs } from "./part/dialog";
import { Shell } from "./part/shell";
import { place } from "./route";
import { Home } from "./screen/home";
import { keepFresh, leave, overview, refresh, signOut, trouble, type Overview } from "./state";
import { chooseLanguage, refusal, t } from "./text";

type Screen = ComponentType<{ o: Overview; home: Overview["home"]; installer: boolean }>;

/** The screens that are fetched when they are first opened, by their names in the address. */
const screens: Record<string, () => Promise<{ Screen: Screen }>> = {
  alerts: () => import("./screen/alerts"),
  inbox: () => import("./screen/inbox"),
  history: () => import("./screen/history"),
  people: () => import("./screen/people"),
  live: () => import("./screen/live"),
  insights: () => import("./screen/insights"),
  wall: () => import("./screen/wall"),
  me: () => import("./screen/me"),
  moment: () => import("./screen/moment"),
  devices: () => import("./screen/devices"),
  links: () => import("./screen/links"),
  walk: () => import("./screen/walk"),
  tuning: () => import("./screen/tuning"),
  map: () => import("./screen/map"),
  sensors: () => import("./screen/sensors"),
};

const fetched: Record<string, Screen> = { "": Home };

function App() {
  return <><Showing /><Dialogs /></>;
}

function Showing() {
  const o = overview.value;
  if (errand.value && errand.value.kind !== "demo") return <Task task={errand.value} />;
  if (o && place.value.screen === "wall") return <Current o={o} />;
  if (o) return <Shell o={o}><Current o={o} /></Shell>;
  if (o === null) return <SignIn />;
  if (trouble.value?.status === 404) return <Stuck title={t("noHome")}><p>{t("noHomeHelp")}</p></Stuck>;
  if (!trouble.value) return <main class="loading" aria-busy="true" />;
  return <Stuck title={t("name")}><p role="alert">{refusal(trouble.value)}</p></Stuck>;
}

/** The form to sign in by, which is fetched where it is needed. */
function SignIn() {
  const form = useSignal<{ Form?: ComponentType }>({});
  const broken = useSignal(false);
  const fetch = () => {
    broken.value = false;
    import("./screen/signin").then((m) => (form.value = { Form: m.SignIn }), () => (broken.value = true));
  };
  useEffect(fetch, []);
  const Form = form.value.Form;
  if (Form) return <Form />;
  if (!broken.value) return <main class="loading" aria-busy="true" />;
  return <main class="signin"><p role="alert">{t("offline")}</p><button class="main" onClick={fetch}>{t("tryAgain")}</button></main>;
}

/** What a link brought somebody for. */
function Task({ task }: { task: Errand }) {
  const came = useSignal<ComponentType<{ task: Errand }> | undefined>(undefined);
  const broken = useSignal(false);
  const fetch = () => {
    broken.value = false;
    import("./screen/errand").then((m) => (came.value = m.Screen), () => (broken.value = true));
  };
  useEffect(fetch, []);
  const Screen = came.value;
  if (Screen) return <Screen key={task.kind + task.token} task={task} />;
  if (!broken.value) return <main class="loading" aria-busy="true" />;
  return <main class="signin"><p role="alert">{t("offline")}</p><button class="main" onClick={fetch}>{t("tryAgain")}</button></main>;
}

/** The screen that the address names; home for a name that is none. It starts anew for another home. */
function Current({ o }: { o: Overview }) {
  const broken = useSignal("");
  const came = useSignal(0);
  const name = place.value.screen in screens ? place.value.screen : "";
  const fetch = () => {
    broken.value = "";
    screens[name]().then(
      (m) => {
        fetched[name] = m.Screen;
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

/** Why there is no home to show: it could not be asked for, or there is none. */
function Stuck({ title, children }: { title: string; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <main class="signin">
      <h1 tabIndex={-1} ref={heading}>{title}</h1>
      {children}
      <button class="main" onClick={refresh}>{t("tryAgain")}</button>
      <button onClick={() => (errand.value = { kind: "join", token: "", network: 0 })}>{t("haveCode")}</button>
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
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
void Promise.all([chooseLanguage(), useLink().then(refresh)]).then(keepFresh);
