import { render } from "preact";
import { call, dropProof, keepProof, onSignedOut } from "./api";
import { Home, signOut } from "./screen/home";
import { SignIn } from "./screen/signin";
import { keepFresh, leave, overview, refresh, trouble } from "./state";
import { chooseLanguage, refusal, t } from "./text";

function App() {
  const o = overview.value;
  if (o) return <Home o={o} />;
  if (o === null) return <SignIn />;
  if (trouble.value?.status === 404) return <NoHome />;
  if (!trouble.value) return <main class="loading" aria-busy="true" />;
  return (
    <main class="signin">
      <p role="alert">{refusal(trouble.value)}</p>
      <button class="main" onClick={refresh}>{t("tryAgain")}</button>
      <button onClick={signOut}>{t("signOut")}</button>
    </main>
  );
}

/** Somebody who belongs to no home yet. */
function NoHome() {
  return (
    <main class="signin">
      <h1>{t("noHome")}</h1>
      <p>{t("noHomeHelp")}</p>
      <button class="main" onClick={refresh}>{t("tryAgain")}</button>
      <button onClick={signOut}>{t("signOut")}</button>
    </main>
  );
}

onSignedOut(() => {
  dropProof();
  leave();
});
/** Signs in with the link of the demo, and takes its code out of the address. */
async function useLink() {
  const code = /^#demo=(\w+)$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", "/");
  await call<{ proof: string }>("POST", "/web/v1/demo-login", { code }).then((a) => keepProof(a.proof, false), () => {});
}

const root = document.getElementById("app")!;
root.textContent = "";
render(<App />, root);
void Promise.all([chooseLanguage(), useLink().then(refresh)]).then(keepFresh);
