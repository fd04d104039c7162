import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/**
 * Connections on which nothing was asked yet: browsers open some ahead. Node counts them among the busy ones, and a server
 * that closes would wait for a question until the time for its headers is over.
 *
 * @returns ends those that are open
 */
export function followUnasked(server: Server): () => void {
  const unasked = new Set<Socket>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    unasked.add(socket);
    socket.once('close', () => unasked.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage) => unasked.delete(socket));
  return () => {
    for (const socket of unasked) socket.destroy();
  };
}
