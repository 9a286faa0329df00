/** Names the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 one, which one client has all of. */
export function toNetwork(address = ''): string {
  const [, mapped] = /^::ffff:([\d.]+)$/i.exec(address) ?? [];
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address;
  const [first = '', last] = address.replace(/%.*/, '').split('::');
  const groups = first === '' ? [] : first.split(':');
  const end = last === undefined || last === '' ? [] : last.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - end.length) }, () => '0');
  return [...groups, ...zeros, ...end]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
