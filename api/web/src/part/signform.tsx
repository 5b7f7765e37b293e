import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { call, keepProof, Refusal } from "../api";
import { chooseLanguage, language, languages, refusal, t } from "../text";

/** Address and password of an account that there is. done runs signed in; what it throws is shown. */
export function SignForm({ yes, done, email = "", said = "" }: { yes: string; done: () => Promise<void>; email?: string; said?: string }) {
  const wrong = useSignal(said);
  const busy = useSignal(false);
  const staying = useSignal(true);
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    busy.value = true;
    wrong.value = "";
    try {
      const answer = await call<{ proof: string }>("POST", "/web/v1/session", { email: form.get("email"), password: form.get("password"), stay: staying.value });
      keepProof(answer.proof, staying.value);
      await done();
    } catch (e) {
      wrong.value = e instanceof Refusal && e.status === 401 ? t("wrong") : refusal(e);
    }
    busy.value = false;
  };
  return (
    <form class="form" onSubmit={submit}>
      <label for="email">{t("email")}</label>
      <input id="email" name="email" type="email" autocomplete="username" required defaultValue={email} />
      <Password now />
      <Stay staying={staying} />
      <p class="wrong" role="alert">{wrong}</p>
      <button class="main" disabled={busy}>{yes}</button>
    </form>
  );
}

/** Whose password a form has, for those who keep passwords. */
export const Holder = ({ email = "" }: { email?: string }) => (
  <input class="hidden" type="text" autocomplete="username" value={email} readOnly tabIndex={-1} aria-hidden="true" />
);

/** A password field, named password: the present one, or a new one. */
export function Password({ now = false, label = t(now ? "password" : "newPassword") }: { now?: boolean; label?: string }) {
  const shown = useSignal(false);
  const hint = useId();
  return (
    <>
      <label for="password">{label}</label>
      <input
        id="password"
        name="password"
        type={shown.value ? "text" : "password"}
        autocomplete={now ? "current-password" : "new-password"}
        minLength={now ? undefined : 6}
        maxLength={512}
        required
        aria-describedby={now ? undefined : hint}
      />
      {!now && <small id={hint}>{t("passwordHint")}</small>}
      <label class="check"><input type="checkbox" checked={shown.value} onChange={() => (shown.value = !shown.value)} /> {t("show")}</label>
    </>
  );
}

export function Stay({ staying }: { staying: { value: boolean } }) {
  return <label class="check"><input type="checkbox" checked={staying.value} onChange={() => (staying.value = !staying.value)} /> {t("stay")}</label>;
}

/** The languages to choose from. chosen is told of a choice. */
export function Languages({ chosen }: { chosen?: (code: string) => void }) {
  const choose = (code: string) => {
    void chooseLanguage(code);
    chosen?.(code);
  };
  return (
    <>
      <label for="language">{t("language")}</label>
      <select id="language" value={language.value} onChange={(e) => choose(e.currentTarget.value)}>
        {Object.entries(languages).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
      </select>
    </>
  );
}
