import type { World } from '../world/world.ts';
import { empty } from './empty.ts';
import { clusterTakeover, thousandProjects } from './large.ts';
import { quietDay } from './quiet-day.ts';
import { troubles } from './troubles.ts';

/** A story: how many servers, how much past, and what is there at the beginning. */
export type Scenario = {
  readonly name: string;
  readonly about: string;
  /** The alerts that fire within its first hour, by name, with the reason where there are several. */
  readonly alerts: readonly string[];
  readonly members: number;
  readonly historyMs: number;
  readonly threadPoolSize?: number;
  /** `liveMs` is the moment the present begins; the world is built at the beginning of its past. */
  readonly build: (world: World, liveMs: number) => void;
};

export function findScenario(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name);
  if (scenario === undefined) {
    const known = scenarios.map((candidate) => candidate.name).join(', ');
    throw new Error(`There is no scenario "${name}". Known ones: ${known}.`);
  }
  return scenario;
}

export const scenarios: readonly Scenario[] = [quietDay, ...troubles, clusterTakeover, thousandProjects, empty];
