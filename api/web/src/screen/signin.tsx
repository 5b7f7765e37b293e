import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, keepProof, Refusal } from "../api";
import { refresh } from "../state";
import { refusal, t } from "../text";

export function SignIn() {
  const wrong = useSignal("");
  const busy = useSignal(false);
  const shown = useSignal(false);
  const staying = useSignal(true);
  const claimed = useSignal(true);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    call<{ claimed: boolean }>("GET", "/web/v1/boot").then((b) => (claimed.value = b.claimed), () => {});
  }, []);

  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    busy.value = true;
    wrong.value = "";
    try {
      const answer = await call<{ proof: string }>("POST", "/web/v1/session", { email: form.get("email"), password: form.get("password"), stay: staying.value });
      keepProof(answer.proof, staying.value);
      await refresh();
    } catch (e) {
      wrong.value = e instanceof Refusal && e.status === 401 ? t("wrong") : refusal(e);
    }
    busy.value = false;
  };

  return (
    <main class="signin">
      <img src="icon.svg" alt="" width="56" height="56" />
      <h1 tabIndex={-1} ref={heading}>{t("name")}</h1>
      {!claimed.value && (
        <p class="note"><strong>{t("notSetUp")}</strong> {t("notSetUpHelp")}</p>
      )}
      <form onSubmit={submit}>
        <label for="email">{t("email")}</label>
        <input id="email" name="email" type="email" autocomplete="username" required />
        <label for="password">{t("password")}</label>
        <input id="password" name="password" type={shown.value ? "text" : "password"} autocomplete="current-password" required />
        <label class="check"><input type="checkbox" checked={shown.value} onChange={() => (shown.value = !shown.value)} /> {t("show")}</label>
        <label class="check"><input type="checkbox" checked={staying.value} onChange={() => (staying.value = !staying.value)} /> {t("stay")}</label>
        <p class="wrong" role="alert">{wrong}</p>
        <button class="main" disabled={busy}>{t("signIn")}</button>
      </form>
      <details>
        <summary>{t("forgotten")}</summary>
        <p>{t("forgottenHelp")}</p>
      </details>
    </main>
  );
}
