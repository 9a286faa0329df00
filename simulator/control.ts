import * as z from 'zod';
import { createEstateControl } from './control-estate.ts';
import { setClock } from './engine/engine.ts';
import { loseMember, replaceDatabase, restart } from './engine/restart.ts';
import type { Fault, Faults } from './faults.ts';
import { toUuid } from './random.ts';
import { permit, policySchema, readerPolicy } from './world/access.ts';
import type { Settings } from './world/settings.ts';
import type { Conditions } from './world/work.ts';
import type { World } from './world/world.ts';

/** Typed operations for tests, which are also available as POST /simulator/…. */
export type Control = ReturnType<typeof createControl>;

export function createControl(world: World, faults: Faults, play: () => void) {
  return {
    ...createServiceControl(world, play),
    ...createFaultControl(faults),
    ...createCredentialControl(world),
    ...createMemberControl(world, play),
    ...createEstateControl(world, play),
  };
}

function createServiceControl(world: World, play: () => void) {
  return {
    setExecutionMode(mode: 'active' | 'passive'): void {
      play();
      world.executionMode = mode;
    },
    failLogStorage(failing: boolean): void {
      play();
      world.settings.logStorageFailing = failing;
    },
    failHealthCheck(name: string | undefined): void {
      world.settings.unhealthyCheck = name;
    },
    switchMetrics(on: boolean, name?: string): void {
      if (name === undefined) world.settings.metricsOn = on;
      else if (on) world.settings.metricsDisabled.delete(name);
      else world.settings.metricsDisabled.add(name);
    },
    /** Sets how long after its end an execution becomes visible. In real servers, the delay is up to 50 s. */
    setSaveDelay(ms: number): void {
      play();
      world.settings.saveDelayMs = ms;
    },
    /** Sets the conditions of all later runs: nodes that are down, more failures, longer runs, stuck jobs. */
    setConditions(conditions: Partial<Conditions>): void {
      play();
      world.conditions = { ...world.conditions, ...conditions };
    },
    /** Sets the server's own configuration and small faults. */
    configure(settings: Partial<Settings>): void {
      play();
      Object.assign(world.settings, settings);
    },
  };
}

function createFaultControl(faults: Faults) {
  return {
    addFault(fault: Fault): () => void {
      return faults.add(fault);
    },
    clearFaults(): void {
      faults.clear();
    },
  };
}

function createCredentialControl(world: World) {
  return {
    addToken(options: z.infer<typeof tokenSchema>): void {
      const { token, user = 'someone', policy = {}, kind = 'token' } = options;
      const credential = {
        id: toUuid('credential', token),
        kind,
        secret: token,
        user,
        creator: options.creator ?? user,
        name: options.name,
        policy: { ...readerPolicy, ...policy },
        expiresAtMs: options.expiresAtMs,
      };
      world.credentials.set(`${kind}:${kind === 'password' ? user : token}`, credential);
    },
    addAccessRules(token: string, text: string): void {
      const key = `token:${token}`;
      const credential = world.credentials.get(key);
      if (credential === undefined) throw new Error('there is no such token');
      const policy = permit(credential.policy, text, [...world.projects.keys()]);
      world.credentials.set(key, { ...credential, policy });
    },
    expireToken(token: string): void {
      const credential = world.credentials.get(`token:${token}`);
      if (credential !== undefined) credential.expiresAtMs = world.clock.now() - 1000;
    },
    revokeToken(token: string): void {
      world.credentials.delete(`token:${token}`);
    },
  };
}

function createMemberControl(world: World, play: () => void) {
  return {
    setClockSkew(ms: number, memberIndex = 0): void {
      play();
      const member = world.members[memberIndex];
      if (member !== undefined) setClock(world, member, ms);
    },
    restart(
      options: { downForMs?: number; cleanupAfterMs?: number; memberIndex?: number; newDatabase?: boolean } = {},
    ): void {
      play();
      const member = world.members[options.memberIndex ?? 0];
      if (options.newDatabase === true) replaceDatabase(world);
      if (member !== undefined) {
        restart(world, member, { downForMs: options.downForMs ?? 0, cleanupAfterMs: options.cleanupAfterMs ?? 5000 });
      }
    },
    /** Removes a member for good. Runs of the member stay `running`; another member takes its schedules if `isTakenOver`. */
    loseMember(memberIndex: number, { isTakenOver = true } = {}): void {
      play();
      const member = world.members[memberIndex];
      if (member !== undefined) loseMember(world, member, isTakenOver);
    },
  };
}

export const tokenSchema = z
  .strictObject({
    token: z.string(),
    user: z.string(),
    creator: z.string(),
    name: z.string(),
    kind: z.enum(['token', 'bearer', 'password']),
    expiresAtMs: z.number(),
    policy: policySchema.exactPartial(),
  })
  .exactPartial()
  .required({ token: true });
