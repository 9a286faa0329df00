import type { Answer, ApiRequest } from './answer.ts';
import { ok, parameter } from './answer.ts';
import { denied, invalidRequest } from './errors.ts';

/** userclass/… (API reference, "User class objects" and "User classes"), of the commercial edition. */
export function userClass(request: ApiRequest): Answer {
  const what = parameter(request, 'what');
  switch (what) {
    case 'enabled':
      return ok({ enabled: true });
    case 'self':
      return ok(toAssignment(request, request.caller.user));
    case 'available':
      return refuse(request) ?? ok({ classes });
    case 'allocations':
    case 'state':
      return refuse(request) ?? ok(toAllocations(request));
    default:
      return invalidRequest(request.world, `/api/${request.version}/userclass/${what}`);
  }
}

/** Everyone may ask for the own class, admins for all. */
export function userClassOf(request: ApiRequest): Answer {
  const login = parameter(request, 'user');
  const refusal = login === request.caller.user ? undefined : refuse(request);
  return refusal ?? ok(toAssignment(request, login));
}

const classes = [
  { name: 'full', title: 'Full', description: 'May do everything' },
  { name: 'viewer', title: 'Viewer', description: 'May look at everything' },
];
const entitled: Readonly<Record<string, number>> = { full: 10, viewer: 100 };

function refuse(request: ApiRequest): Answer | undefined {
  return request.caller.policy.admin ? undefined : denied(request, 'admin', 'Resource', 'user');
}

function toAssignment({ world }: ApiRequest, username: string) {
  return { username, userclass: world.settings.userClasses[username] ?? 'NONE' };
}

function toAllocations({ world }: ApiRequest) {
  const allocations = world.settings.userClasses;
  const summary: Record<string, number> = {};
  for (const name of Object.values(allocations)) summary[name] = (summary[name] ?? 0) + 1;
  const over = Object.entries(summary).filter(([name, count]) => count > (entitled[name] ?? 0));
  const isFull = over.length > 0;
  return {
    allocations,
    state: isFull ? 'exceeded' : 'ok',
    message: isFull ? 'More users have a class than it allows' : '',
    summary,
    exceeded: Object.fromEntries(over.map(([name, count]) => [name, count - (entitled[name] ?? 0)])),
    entitled,
  };
}
