export type { FrontOptions } from './front/pages.ts';
export { sandboxHandlers } from './handlers.ts';
export { sandboxPages } from './pages.ts';
export { sandboxRoutes } from './routes.ts';
export { isSeeded, type SandboxCredentials, seedSandbox } from './seed.ts';
export { noteStoryUntil, tellStory } from './story.ts';
