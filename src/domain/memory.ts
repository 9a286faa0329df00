/** What is kept about a polled thing from poll to poll, also across restarts: a few plain values. */
export type Memory = Readonly<Record<string, string | number>>;
