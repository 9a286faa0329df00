export type MemberSight = {
  /** Called with the member that an answer names. */
  readonly note: (uuid: string | undefined) => void;
  /** Reports whether several members answer under one address. */
  readonly hasSeveral: () => boolean;
};

/** The number of answers that are remembered: after this many from one member, there is only one. */
const remembered = 20;

/** A member that comes back after another has answered shows that both are there; one that is followed by another for good was replaced. */
export function createMemberSight(): MemberSight {
  const seen: string[] = [];
  let hasSeveral = false;
  return {
    note: (uuid) => {
      if (uuid === undefined || uuid === '') return;
      seen.push(uuid);
      if (seen.length > remembered) seen.shift();
      const changes = seen.filter((each, index) => each !== seen[index - 1]).length;
      hasSeveral = changes > new Set(seen).size;
    },
    hasSeveral: () => hasSeveral,
  };
}
