export type Cookies = {
  readonly note: (setCookies: readonly string[]) => void;
  /** Reports whether the server has opened a session. */
  readonly hasSession: () => boolean;
  readonly toHeader: () => Readonly<Record<string, string>>;
  readonly clear: () => void;
};

const session = 'JSESSIONID';
/** More than any server needs; one that makes up names must not fill the memory. */
const mostCookies = 20;

/** The cookies of one session: the server's own, and those by which a balancer finds the member that knows it. */
export function createCookies(values = new Map<string, string>()): Cookies {
  function noteOne(setCookie: string): void {
    const [, given = '', value = ''] = /^\s*([\w.!#$%&'*+^`|~-]+)\s*=\s*([^;\s]*)/.exec(setCookie) ?? [];
    if (given === '') return;
    const name = given.toUpperCase() === session ? session : given;
    // That a session has ended is told by the answers: until then its cookie is all there is.
    if (value === '' || isOver(setCookie)) {
      if (name !== session) values.delete(name);
    } else if (values.has(name) || values.size < mostCookies) {
      values.set(name, value);
    }
  }

  return {
    note: (setCookies) => {
      for (const setCookie of setCookies) noteOne(setCookie);
    },
    hasSession: () => values.has(session),
    toHeader: () => {
      if (values.size === 0) return {};
      return { cookie: [...values].map(([name, value]) => `${name}=${value}`).join('; ') };
    },
    clear: () => values.clear(),
  };
}

/** Servers take a cookie back by an age of 0, or by an end at the beginning of time. */
function isOver(setCookie: string): boolean {
  return /;\s*max-age\s*=\s*(0|-\d)/i.test(setCookie) || /;\s*expires\s*=[^;]*\b19\d\d\b/i.test(setCookie);
}
