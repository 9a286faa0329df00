import { programs } from '../../simulator/answers/executions/program-lines.ts';
import { toSeed } from '../../simulator/random.ts';
import type { Work } from '../../simulator/world/work.ts';

/** A step that always fails, with output from this template. */
export function failingWork(template: string): Work {
  const isOf = (text: string): boolean => programs[toSeed('pay', text) % programs.length] === template;
  const text = Array.from({ length: 5000 }, (_, at) => `run ${at}`).find(isOf) ?? '';
  const step = { kind: 'exec', text, nodeStep: true, seconds: 1, failureChance: 1 } as const;
  return { nodes: ['db03'], steps: [step], keepGoing: false, timeoutMs: undefined, references: new Map() };
}
