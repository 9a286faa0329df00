export type LogFields = Readonly<Record<string, unknown>>;
type Write = (fields: LogFields, message: string) => void;
/** Each function takes fields first, then a static message. */
export type Log = { readonly debug: Write; readonly info: Write; readonly warn: Write; readonly error: Write };
