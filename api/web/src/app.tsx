import { useSignal } from "@preact/signals";
import { render, type ComponentChildren, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { call, dropProof, keepProof, onSignedOut } from "./api";
import { Shell } from "./part/shell";
import { clear, place } from "./route";
import { Home } from "./screen/home";
import { SignIn } from "./screen/signin";
import { keepFresh, leave, overview, refresh, signOut, trouble, type Overview } from "./state";
import { chooseLanguage, refusal, t } from "./text";

type Screen = ComponentType<{ o: Overview }>;

/** The screens that are fetched when they are first opened, by their names in the address. */
const screens: Record<string, () => Promise<{ Screen: Screen }>> = {
  alerts: () => import("./screen/alerts"),
  inbox: () => import("./screen/inbox"),
  history: () => import("./screen/history"),
  me: () => import("./screen/me"),
  moment: () => import("./screen/moment"),
};

const fetched: Record<string, Screen> = { "": Home };

function App() {
  const o = overview.value;
  if (o) return <Shell o={o}><Current o={o} /></Shell>;
  if (o === null) return <SignIn />;
  if (trouble.value?.status === 404) return <Stuck title={t("noHome")}><p>{t("noHomeHelp")}</p></Stuck>;
  if (!trouble.value) return <main class="loading" aria-busy="true" />;
  return <Stuck title={t("name")}><p role="alert">{refusal(trouble.value)}</p></Stuck>;
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
  if (Screen) return <Screen key={name + o.home.id} o={o} />;
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
      <button onClick={signOut}>{t("signOut")}</button>
    </main>
  );
}

/** Signs in with the link of the demo, and takes its code out of the address. */
async function useLink() {
  const code = /^#demo=(\w+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  clear();
  await call<{ proof: string }>("POST", "/web/v1/demo-login", { code }).then((a) => keepProof(a.proof, false), () => {});
}

onSignedOut(() => {
  dropProof();
  leave();
});
const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
void Promise.all([chooseLanguage(), useLink().then(refresh)]).then(keepFresh);
