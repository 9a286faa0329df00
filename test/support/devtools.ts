type Fields = Readonly<Record<string, unknown>>;

export type Tab = {
  readonly send: (method: string, params?: Fields) => Promise<Fields>;
  readonly on: (event: string, listener: (params: Fields) => void) => void;
  readonly next: (event: string) => Promise<Fields>;
};

type Devtools = {
  /** Gives each visit its own tab; tabs are reused, because a new tab starts a process. */
  readonly withTab: <Answer>(visit: (tab: Tab) => Promise<Answer>) => Promise<Answer>;
  readonly close: () => void;
};

type Message = {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly message: string };
};

/** A connection to a browser's DevTools, for commands, answers and events of tabs. */
export async function openDevtools(address: string): Promise<Devtools> {
  const socket = new WebSocket(address);
  const answers = new Map<number, { resolve: (result: Fields) => void; reject: (error: Error) => void }>();
  const listeners = new Map<string, ((params: Fields) => void)[]>();
  const free: string[] = [];
  let lastId = 0;

  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) {
      for (const listen of listeners.get(`${message.sessionId} ${message.method}`) ?? []) listen(message.params ?? {});
      return;
    }
    const waiting = answers.get(message.id);
    answers.delete(message.id);
    if (message.error !== undefined) waiting?.reject(new Error(message.error.message));
    else waiting?.resolve(message.result ?? {});
  });
  socket.addEventListener('close', () => {
    for (const { reject } of answers.values()) reject(new Error('the browser went away'));
  });

  function send(method: string, params: Fields = {}, sessionId?: string): Promise<Fields> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      answers.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
  }

  async function openTab(): Promise<string> {
    const { targetId } = await send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    return String(sessionId);
  }

  function toTab(sessionId: string): Tab {
    function on(event: string, listener: (params: Fields) => void): void {
      const key = `${sessionId} ${event}`;
      listeners.set(key, [...(listeners.get(key) ?? []), listener]);
    }
    return {
      send: (method, params) => send(method, params, sessionId),
      on,
      next: (event) => new Promise((resolve) => on(event, resolve)),
    };
  }

  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no DevTools at ${address}`)));
  });
  return {
    withTab: async (visit) => {
      const sessionId = free.pop() ?? (await openTab());
      try {
        return await visit(toTab(sessionId));
      } finally {
        for (const key of listeners.keys()) if (key.startsWith(sessionId)) listeners.delete(key);
        free.push(sessionId);
      }
    },
    close: () => socket.close(),
  };
}
