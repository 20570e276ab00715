/** The parts of undici that are loaded without the rest of it. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
