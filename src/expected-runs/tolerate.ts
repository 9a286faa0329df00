import { ApiError, isOfWholeServer } from '../api/errors.ts';

/** Leaves out what the server refuses about one project or job; a fault of the server itself is thrown. */
export async function tolerate<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ApiError) || isOfWholeServer(error)) throw error;
    return undefined;
  }
}
