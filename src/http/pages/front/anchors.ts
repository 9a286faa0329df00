/** A name as the target of a link, whatever it holds. */
export function toAnchor(server: string): string {
  return `server-${encodeURIComponent(server.toWellFormed())}`;
}

/** Returns the anchor of the policy that allows a server's denied collectors. */
export function toRightsAnchor(server: string): string {
  return `${toAnchor(server)}-rights`;
}
