import type { Draft } from './draft.ts';
import type { SpanKey } from './ids.ts';

/** The tree without what a state names a second time: two spans can not have one id, and the first stays. */
export function dropDoubles(draft: Draft, taken = new Set<string>()): Draft {
  const children: Draft[] = [];
  for (const child of draft.children) {
    const key = toText(child.key);
    if (taken.has(key)) continue;
    taken.add(key);
    children.push(child.children.length === 0 ? child : dropDoubles(child, taken));
  }
  return { ...draft, children };
}

function toText(key: SpanKey): string {
  const path = key.kind === 'root' ? '' : key.path;
  return `${key.kind}\n${path}\n${key.kind === 'node' ? key.node : ''}`;
}
