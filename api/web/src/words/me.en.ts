export const me = {
  me: "Me",
};
