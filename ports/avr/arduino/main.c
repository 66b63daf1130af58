/* The part of the Arduino core's main() that a sketch needs. */
void setup(void);
void loop(void);

int main(void)
{
    setup();
    for (;;)
        loop();
}
