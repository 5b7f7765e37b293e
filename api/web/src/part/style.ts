import { useEffect, useState } from "preact/hooks";

const there = new Set<string>();

/** Fetches a file of style, once: it is no part of the first view. Whether it is there. */
export function useStyle(file: string): boolean {
  const [, came] = useState(0);
  useEffect(() => {
    if (there.has(file)) return;
    let link = document.querySelector<HTMLLinkElement>(`link[href='${file}']`);
    const done = () => {
      there.add(file);
      came((n) => n + 1);
    };
    if (!link) {
      link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = file;
      document.head.append(link);
    }
    link.addEventListener("load", done);
    link.addEventListener("error", done);
  }, [file]);
  return there.has(file);
}
