import type { Attributes, AttributeValue } from './span.ts';

export type AttributeList = {
  /** Sets an attribute; undefined and empty texts are skipped. */
  readonly set: (name: string, value: AttributeValue | undefined) => void;
  readonly cut: (text: string, length?: number) => string;
  readonly values: Attributes;
  readonly isCut: () => boolean;
};

/** Collects the attributes of one span; texts that are too long are cut, and it is remembered that one was. */
export function createAttributes(): AttributeList {
  const values: Record<string, AttributeValue> = {};
  let hasCut = false;

  function cut(text: string, length = longestValue): string {
    const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
    if (wellFormed.length <= length) return wellFormed;
    hasCut = true;
    // Half of a surrogate pair at the end would be no text.
    return `${wellFormed.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
  }

  return {
    set: (name, value) => {
      if (value === undefined || value === '') return;
      if (typeof value === 'number' && !Number.isFinite(value)) return;
      values[name] = typeof value === 'string' ? cut(value) : value;
    },
    cut,
    values,
    isCut: () => hasCut,
  };
}

const longestValue = 1000;
export const longestName = 200;
