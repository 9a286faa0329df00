/** One level of the path of a step. */
export type StepPlace = {
  readonly number: number;
  readonly isHandler: boolean;
  /** `node` for a reference run per node. */
  readonly parameters: ReadonlyMap<string, string>;
};

/** Reads `step[e][@key=value,…]` joined by `/`, where `\` takes the meaning from what follows; undefined for anything else. */
export function parseStepContext(context: string): readonly StepPlace[] | undefined {
  if (context.length > longestContext) return undefined;
  const places = splitAt(context, '/').map(parsePlace);
  return places.every((place) => place !== undefined) ? places : undefined;
}

/** The order in which steps are numbered; a handler comes after its step. */
export function compareContexts(left: readonly StepPlace[], right: readonly StepPlace[]): number {
  for (const [level, place] of left.entries()) {
    const other = right[level];
    if (other === undefined) return 1;
    const difference = place.number - other.number || Number(place.isHandler) - Number(other.isHandler);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Longer ones are not of a server's making. */
const longestContext = 4000;

function parsePlace(text: string): StepPlace | undefined {
  const [, digits, mark, rest] = /^(\d{1,9})(e?)(?:@([\s\S]*))?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const parameters = new Map<string, string>();
  for (const pair of rest === undefined ? [] : splitAt(rest, ',')) {
    const [key, ...value] = splitAt(pair, '=');
    if (key === undefined || key === '' || value.length === 0) return undefined;
    parameters.set(unescape(key), unescape(value.join('=')));
  }
  return { number: Number(digits), isHandler: mark === 'e', parameters };
}

function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let place = 0; place < text.length; place += 1) {
    if (text[place] === '\\') {
      place += 1;
    } else if (text[place] === separator) {
      parts.push(text.slice(from, place));
      from = place + 1;
    }
  }
  return [...parts, text.slice(from)];
}

function unescape(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, '$1');
}
