// The first two steps: the setup code, and an account.

import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { call, keepProof, Refusal } from "../api";
import { keepSetupCode, setupCode } from "../errand";
import { go, place } from "../route";
import { refusal, t } from "../text";
import { Frame } from "./setupframe";
import { Password, SignForm, Stay } from "./signform";

/** Where the setup code is typed. */
function CodeField({ code }: { code?: string }) {
  return (
    <>
      <label for="code">{t("frCode")}</label>
      <input id="code" name="code" class="typed" autocapitalize="characters" autocomplete="off" spellcheck={false} maxLength={64} required placeholder="7K2M-Q9XA-04TZ" defaultValue={code} />
    </>
  );
}

/** What is wrong with a setup code, "" for nothing. */
async function codeMistake(code: string): Promise<string> {
  try {
    await call("POST", "/web/v1/setup/code-check", { code });
    return "";
  } catch (e) {
    return e instanceof Refusal && e.code === "wrong_setup_code" ? t("frCodeWrong") : refusal(e);
  }
}

/** The code alone; send takes it. */
export function CodeForm({ said = "", code, send }: { said?: string; code?: string; send: (code: string) => Promise<void> | void }) {
  const busy = useSignal(false);
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    busy.value = true;
    await send(String(new FormData(e.currentTarget as HTMLFormElement).get("code")).trim());
    busy.value = false;
  };
  return (
    <form class="form" onSubmit={submit}>
      <p>{t("frCodeWhy")}</p>
      <CodeField code={code} />
      <p class="wrong" role="alert">{said}</p>
      <button class="main" disabled={busy}>{t("goOn")}</button>
    </form>
  );
}

/** Somebody who is not signed in: done runs when they are. */
export function Account({ done }: { done: () => void }) {
  const code = useSignal(setupCode());
  const typed = useRef(""); // the code before it was to be changed
  const wrong = useSignal(""); // about the code
  const refused = useSignal(false); // the code is wrong: it is shown, to be corrected
  const known = useSignal<boolean | string>(false); // who has an account, and its address
  const at = place.value.rest[0];
  const was = useRef(at);
  const again = () => {
    typed.current = code.value;
    keepSetupCode("");
    code.value = wrong.value = "";
    refused.value = false;
  };
  useEffect(() => { // the code of a link
    if (code.value) void codeMistake(code.value).then((said) => { wrong.value = said; refused.value = said === t("frCodeWrong"); });
  }, []);
  useEffect(() => { // the phone's way back leads from the account to the code
    if (was.current === "account" && at === undefined) again();
    was.current = at;
  }, [at]);
  const take = async (given: string) => {
    wrong.value = await codeMistake(given);
    if (wrong.value) return;
    keepSetupCode(given);
    code.value = given;
    go("setup", "account");
  };
  if (code.value === "")
    return (
      <Frame step="code" title={t("frCodeTitle")}>
        <CodeForm said={wrong.value} code={typed.current} send={take} />
        <p><button onClick={() => go("")}>{t("cancel")}</button></p>
      </Frame>
    );
  return (
    <Frame step="account" title={t("frAccountTitle")}>
      <p>{t("frAccountWhy")}</p>
      <div class="row" role="group" aria-label={t("joinWho")}>
        <button aria-pressed={known.value === false} onClick={() => (known.value = false)}>{t("joinNew")}</button>
        <button aria-pressed={known.value !== false} onClick={() => (known.value = true)}>{t("joinHave")}</button>
      </div>
      {known.value ? (
        <SignForm yes={t("goOn")} done={async () => done()} {...(typeof known.value === "string" && { email: known.value, said: t("joinKnown") })} />
      ) : (
        <NewAccount code={code} wrong={wrong} refused={refused} taken={(email) => (known.value = email)} done={done} />
      )}
      {!refused.value && <p><button onClick={() => (at === "account" ? history.back() : again())}>{t("frOtherCode")}</button></p>}
    </Frame>
  );
}

/** Makes an account with the setup code, and signs in. */
function NewAccount({ code, wrong, refused, taken, done }: { code: { value: string }; wrong: Signal<string>; refused: { value: boolean }; taken: (email: string) => void; done: () => void }) {
  const staying = useSignal(true);
  const busy = useSignal(false);
  const made = useRef(""); // the address of the account that was made, while signing in failed
  const send = async (form: FormData) => {
    const email = String(form.get("email")).trim();
    const password = form.get("password");
    if (form.has("code")) {
      code.value = String(form.get("code")).trim();
      keepSetupCode(code.value);
    }
    if (made.current !== email) await call("POST", "/api/v1/users", { email, password, first_name: form.get("name"), setup_code: code.value });
    made.current = email;
    const session = await call<{ proof: string }>("POST", "/web/v1/session", { email, password, stay: staying.value });
    keepProof(session.proof, staying.value);
    keepSetupCode("");
    done();
  };
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const form = new FormData(e.currentTarget as HTMLFormElement);
    busy.value = true;
    wrong.value = "";
    try {
      await send(form);
    } catch (e) {
      refused.value ||= e instanceof Refusal && e.code === "wrong_setup_code";
      if (e instanceof Refusal && e.status === 409) return taken(String(form.get("email")));
      wrong.value = e instanceof Refusal && e.code === "wrong_setup_code" ? t("frCodeWrong") : refusal(e);
    }
    busy.value = false;
  };
  const said = <p class="wrong" role="alert">{wrong}</p>;
  const ofCode = refused.value && wrong.value === t("frCodeWrong");
  return (
    <form class="form" onSubmit={submit}>
      {refused.value && <CodeField code={code.value} />}
      {ofCode && said}
      <label for="name">{t("yourName")}</label>
      <input id="name" name="name" autocomplete="given-name" maxLength={100} required />
      <label for="email">{t("email")}</label>
      <input id="email" name="email" type="email" autocomplete="username" maxLength={254} required />
      <Password label={t("choosePassword")} />
      <Stay staying={staying} />
      {!ofCode && said}
      <button class="main" disabled={busy}>{t("goOn")}</button>
    </form>
  );
}
