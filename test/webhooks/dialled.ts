import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Records every address that this process tries to connect to over TCP, until `stop`. */
export function recordDialled(): { addresses: string[]; stop(): void } {
  const addresses: string[] = [];
  const onSocket = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    socket.on('connectionAttempt', (address: string) => addresses.push(address));
  };
  subscribe('net.client.socket', onSocket);
  return { addresses, stop: () => unsubscribe('net.client.socket', onSocket) };
}
