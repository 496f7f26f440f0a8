// Asks for the token and exchanges it for a cookie. It goes in a header: addresses are remembered and logged.
const form = document.getElementById("door"), field = document.getElementById("token"), refused = document.getElementById("refused");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const token = field.value.trim();
  refused.textContent = "";
  try {
    const answer = await fetch("/enter", { headers: { Authorization: `Bearer ${token}` }, cache: "no-store" });
    if (answer.ok) location.reload();
    else refused.textContent = answer.status === 403 ? "This is not the token." : (await answer.text()).slice(0, 200);
  } catch {
    refused.textContent = "The server does not answer, or the token holds letters that no token has.";
  }
  field.select();
});
