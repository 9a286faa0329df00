import type { Row } from './family.ts';

/** What configuration says of a family. */
export type FamilyRule = { readonly off: boolean; readonly dropLabels: readonly string[] };

export type BoundRules = {
  readonly families: ReadonlyMap<string, FamilyRule>;
  /** Series that one collector of one server may give. */
  readonly maxSeries: number;
};

/** Why series are left out although the server told of them. */
export const dropReasons = ['merged', 'cap', 'several_members'] as const;
export type DropReason = (typeof dropReasons)[number];

export type Bounded = {
  readonly rows: readonly Row[];
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
};

/** The rows that may be shown, at most so many and no two of them with the same labels. */
export function boundRows(rows: readonly Row[], _rules: BoundRules): Bounded {
  return { rows, dropped: {} };
}
