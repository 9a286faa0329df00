type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the descriptor of the socket that systemd hands over (sd_listen_fds); throws where there is not exactly one. */
export function readSystemdSocket(env: Environment, pid: number): number {
  const count = env['LISTEN_PID'] === String(pid) ? Number(env['LISTEN_FDS'] ?? 0) : 0;
  if (count === 1) return firstDescriptor;
  throw new Error(
    count > 1
      ? `systemd hands over ${count} sockets, but --web.systemd-socket takes one`
      : 'systemd hands over no socket: --web.systemd-socket needs a unit of type socket',
  );
}

const firstDescriptor = 3;
