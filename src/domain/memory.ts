/** The values that a poll keeps for the next one, also across restarts. */
export type Memory = Readonly<Record<string, string | number>>;
