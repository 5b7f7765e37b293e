// What the bundle has in place of the files of words: .ci/web/words.go writes it.

/** The numbers of the words whose names are needed at run time. */
export const numbers: Record<string, number> = {};

/**
 * Returns texts by their numbers. packed has the texts of a file of words, in lines, at the number
 * of the first, and at names and this number a name, or nothing, for each of them.
 */
export function unpack(packed: Record<string, string>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [at, lines] of Object.entries(packed)) {
    const first = Number(at.replace("names", ""));
    if (at === String(first)) lines.split("\n").forEach((text, i) => (texts[first + i] = text));
    else lines.split(" ").forEach((name, i) => name && (numbers[name] = first + i));
  }
  return texts;
}
