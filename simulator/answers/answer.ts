import type { Policy } from '../world/access.ts';
import type { Member } from '../world/member.ts';
import type { World } from '../world/world.ts';

/** The content of an answer: JSON, plain text, or nothing but a status. */
export type Answer = {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How much the server lists in memory for it, however little of that it tells. */
  readonly listed?: number;
};

/** The time that a server takes to list that. */
export function toListingMs({ listed = 0 }: Pick<Answer, 'listed'>): number {
  return listed * 0.003;
}

export type Caller = {
  readonly user: string;
  readonly policy: Policy;
  readonly by: 'token' | 'session' | 'bearer';
};

/** One API call after authentication and version check. */
export type ApiRequest = {
  readonly world: World;
  /** The serving member, and its own idea of the present time. */
  readonly member: Member;
  readonly nowMs: number;
  readonly version: number;
  readonly caller: Caller;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly body: unknown;
  readonly baseUrl: string;
};

export type Answerer = (request: ApiRequest) => Answer;

export function ok(json: unknown): Answer {
  return { status: 200, json };
}

export function text(body: string, contentType = 'text/plain;charset=utf-8'): Answer {
  return { status: 200, text: body, contentType };
}

/** An API address, always with the server's newest version. */
export function href({ world, baseUrl }: ApiRequest, path: string): string {
  return `${world.settings.publicUrl ?? baseUrl}/api/${world.release.apiVersion}/${path}`;
}

/** A page of the user interface. */
export function permalink({ world, baseUrl }: ApiRequest, path: string): string {
  return `${world.settings.publicUrl ?? baseUrl}/${path}`;
}

export function parameter(request: ApiRequest, name: string): string {
  return request.parameters[name] ?? '';
}

/** `true`, `on`, `1` and `yes` switch a flag on. */
export function flag(request: ApiRequest, name: string): boolean {
  return ['true', 'on', '1', 'yes'].includes(request.query.get(name)?.toLowerCase() ?? '');
}
