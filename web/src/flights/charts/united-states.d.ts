/** Made by states.vite.ts. */
declare module 'virtual:united-states' {
  export const nation: string;
  export const borders: string;
}
