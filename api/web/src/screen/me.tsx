import { Page } from "../part/page";
import { signOut, type Overview } from "../state";
import { chooseLanguage, language, languages, t } from "../text";

/** The one who is signed in, and how the page speaks to them. */
export function Screen({ o }: { o: Overview }) {
  return (
    <Page title={t("me")}>
      <p>{o.user.name} <small>{o.user.email}</small></p>
      <p>
        <label for="language">{t("language")}</label>{" "}
        <select id="language" value={language.value} onChange={(e) => void chooseLanguage(e.currentTarget.value)}>
          {Object.entries(languages).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
        </select>
      </p>
      <p><button onClick={signOut}>{t("signOut")}</button></p>
    </Page>
  );
}
